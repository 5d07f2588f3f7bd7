import { Compose, type ComposeFailure } from "@acp-kit/orchestrator/Compose"
import { type Healed, heal } from "@acp-kit/runlet/Heal"
import type { Json, JsonObject, Tool as RunletTool } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import type { BackgroundCalls } from "./BackgroundCalls.ts"
import { ComposeGuide, type Entry } from "./ComposeGuide.ts"
import { type ComposeInput, readInput } from "./ComposeInput.ts"
import type { Outcome, Tool } from "./TurnLoop.ts"

export interface Options {
  /** What the program of the call with this id may call. */
  readonly tools: (call: string) => ReadonlyArray<RunletTool>
  /** What the model is told of them, in the order in which it reads them. */
  readonly catalog: ReadonlyArray<Entry>
  /** Where a call goes on that asks for it. */
  readonly background: BackgroundCalls
  /** Shortens a result that is too long for the model. */
  readonly spill: (id: string, output: Json) => Effect.Effect<Json>
}

const input: JsonObject = {
  type: "object",
  properties: {
    script: { type: "string", description: "The Runlet program." },
    intent: { type: "string", description: "What it is for, as a short status line for the user." },
    background: {
      anyOf: [{ type: "boolean" }, { type: "integer", minimum: 1, maximum: 86_400 }],
      description: "true to go on in the background at once, or the seconds to wait for it first.",
    },
  },
  required: ["script"],
  additionalProperties: false,
}

/**
 * `compose`: the agent's one tool. It runs a program of at most 128 calls, repaired where it does not parse, and what the program
 * returns is its result.
 */
export const make = ({ tools, catalog, background, spill }: Options): Tool => ({
  spec: { name: "compose", description: ComposeGuide.describe(catalog), input },
  run: (id, given) => {
    const read = readInput(given)
    if (typeof read === "string") return Effect.succeed(refused(read))
    const work = Effect.flatMap(run(read, tools(id)), (outcome) =>
      outcome.status === "completed"
        ? Effect.map(spill(id, outcome.output), (output): Outcome => ({ ...outcome, output }))
        : Effect.succeed(outcome),
    )
    return background.run(id, secondsInFront(read), work)
  },
})

const secondsInFront = ({ background = false }: ComposeInput): number | undefined =>
  background === true ? 0 : background === false ? undefined : background

const run = ({ script }: ComposeInput, tools: ReadonlyArray<RunletTool>): Effect.Effect<Outcome> => {
  const healed = heal(script, { rewrite: true })
  const program = { source: healed?.source ?? script, tools, author: "model" } as const
  return Effect.match(Compose.run(program), {
    onSuccess: (output): Outcome => ({ status: "completed", output, ...notesOf(healed) }),
    onFailure: (failure): Outcome => ({ status: "failed", output: describe(failure), ...notesOf(healed) }),
  })
}

/** What the model is told of the repairs of its program: lines are those of the repaired source. */
const notesOf = (healed: Healed | null) =>
  healed === null ? {} : { notes: healed.notes.map((note) => `the program was repaired: ${note}`) }

const refused = (message: string): Outcome => ({ status: "failed", output: { code: "INVALID_ARGUMENT", message } })

const describe = (failure: ComposeFailure): JsonObject => {
  if (failure._tag === "RunFailed") {
    const { code, message, retryable, uncertain, details, line, column } = failure
    return {
      code,
      message,
      retryable,
      uncertain,
      details,
      ...(line === undefined || column === undefined ? {} : { line, column }),
    }
  }
  const diagnostics = failure.diagnostics.map(({ code, severity, line, column, message, fixes }) => ({
    code,
    severity,
    line,
    column,
    message,
    fixes: fixes.map((fix) => fix.message),
  }))
  return { code: failure.code, message: failure.message, diagnostics }
}

export * as ComposeTool from "./ComposeTool.ts"
