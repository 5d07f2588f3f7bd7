import type { JsonObject } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** One compose call of a rule. */
const Call = Schema.Struct({
  script: Schema.String,
  intent: Schema.optionalKey(Schema.String),
  background: Schema.optionalKey(Schema.Union([Schema.Boolean, Schema.Int])),
})

/**
 * One step of a rule. `say` and `think` stream text, `pieces` of it one at a time; `compose` makes one call, or several at once,
 * and ends the response; `wait_ms` is slow; `fail` fails the request, the first `attempts` times only where that is given;
 * `stop` ends the response early.
 */
const Step = Schema.Union([
  Schema.Struct({ say: Schema.String, pieces: Schema.optionalKey(Schema.Int) }),
  Schema.Struct({ think: Schema.String }),
  Schema.Struct({ compose: Schema.Union([Call, Schema.Array(Call)]) }),
  Schema.Struct({ wait_ms: Schema.Int }),
  Schema.Struct({ fail: Schema.String, attempts: Schema.optionalKey(Schema.Int) }),
  Schema.Struct({ stop: Schema.Literals(["max_tokens", "refusal"]) }),
])
export type Step = typeof Step.Type

const Rule = Schema.Struct({ match: Schema.String, steps: Schema.Array(Step) })

/**
 * The rules of the scripted model. The first rule whose regular expression matches the text of the prompt answers it; a prompt
 * that no rule matches is answered by the built-in rule. In the texts of a step `{{text}}` is the prompt, `{{0}}` to `{{9}}` are
 * what the expression matched, and `{{result}}` is the result of the last call.
 */
export const Script = Schema.Struct({
  version: Schema.Literal(1),
  window: Schema.optionalKey(Schema.Int),
  rules: Schema.Array(Rule),
})
export type Script = typeof Script.Type

/** A script file that cannot be used. */
export class ScriptInvalid extends Schema.TaggedError<ScriptInvalid>()("ScriptInvalid", { reason: Schema.String }) {
  override get message() {
    return `the script of the scripted model cannot be used: ${this.reason}`
  }
}

/** Reads the text of a script file. */
export const decode = (text: string): Effect.Effect<Script, ScriptInvalid> =>
  Schema.decodeEffect(Schema.fromJsonString(Script))(text).pipe(
    Effect.tap((script) => Effect.forEach(script.rules, (rule) => Effect.try(() => new RegExp(rule.match, "s")))),
    Effect.mapError((error) => new ScriptInvalid({ reason: "cause" in error ? String(error.cause) : error.message })),
  )

/** The steps of the rule for a prompt, its placeholders for text and matches filled in; `undefined` where no rule matches. */
export const stepsFor = (script: Script, text: string): ReadonlyArray<Step> | undefined => {
  for (const rule of script.rules) {
    const match = new RegExp(rule.match, "s").exec(text)
    if (match)
      return rule.steps.map((step) =>
        fill(step, (key) => (key === "text" ? text : /^\d$/.test(key) ? (match[Number(key)] ?? "") : undefined)),
      )
  }
  return undefined
}

/** The step with each `{{key}}` of its texts replaced, where `value` knows the key. */
export const fill = <A extends Step>(step: A, value: (key: string) => string | undefined): A =>
  Object.fromEntries(Object.entries(step).map(([key, content]) => [key, fillValue(content, value)])) as A

const fillValue = (content: unknown, value: (key: string) => string | undefined): unknown => {
  if (typeof content === "string") return content.replace(/\{\{(\w+)\}\}/g, (whole, key: string) => value(key) ?? whole)
  if (Array.isArray(content)) return content.map((item) => fillValue(item, value))
  if (typeof content === "object" && content !== null) return fill(content as never, value)
  return content
}

/** The calls of a step, none where it makes none. */
export const callsOf = (step: Step): ReadonlyArray<JsonObject> => ("compose" in step ? [step.compose].flat() : [])

export * as Scripts from "./Script.ts"
