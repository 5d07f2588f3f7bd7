import type { ConfigOption } from "@acp-kit/protocol/Options"
import type { ProtocolError } from "@acp-kit/protocol/ProtocolError"
import type { Session } from "@acp-kit/protocol/Session"
import * as Effect from "effect/Effect"
import type { Profile } from "./Harness.ts"
import { LaunchError } from "./LaunchError.ts"
import { suggestion } from "./Nearest.ts"
import { SubagentError } from "./SubagentError.ts"

type SetError = ProtocolError.CallError | ProtocolError.SessionRetired

const rejected = (code: "MODEL_REJECTED" | "OPTION_REJECTED", message: string) =>
  new SubagentError({ code, message, retryable: false })

const quote = (text: string) => JSON.stringify(text)

/** The words of a child's refusal; an answer of any other kind is the failure of the start. */
const refusal = (profile: Profile, error: SetError, say: (detail: string) => SubagentError): SubagentError =>
  error._tag === "RpcError" ? say(`: ${error.message}`) : LaunchError.ofStart(profile, error, [])

const isModel = (option: ConfigOption): boolean => option.id === "model" || option.category === "model"

/** The select with id `model`, else the only one of category `model` (decision 12). */
export const modelOption = (options: ReadonlyArray<ConfigOption>): ConfigOption | undefined => {
  const selects = options.filter((option) => option.type === "select")
  const named = selects.find((option) => option.id === "model")
  if (named !== undefined) return named
  const sorted = selects.filter((option) => option.category === "model")
  return sorted.length === 1 ? sorted[0] : undefined
}

/** Selects a model explicitly (S22); succeeds with the option list after it. `of` says whose session it is. */
export const selectModel = Effect.fnUntraced(function* (
  profile: Profile,
  session: Session,
  model: string,
  of = "",
): Effect.fn.Return<ReadonlyArray<ConfigOption>, SubagentError> {
  const option = modelOption(yield* session.options)
  if (option === undefined) {
    const message = `ACP harness ${quote(profile.reference)} does not advertise a selectable model session option`
    return yield* rejected("MODEL_REJECTED", message)
  }
  const hint = option.values.includes(model) ? "" : suggestion(model, option.values)
  return yield* Effect.mapError(session.setOption(option.id, model), (error) =>
    refusal(profile, error, (detail) =>
      rejected(
        "MODEL_REJECTED",
        `ACP harness ${quote(profile.reference)} rejected model selection ${quote(model)}${of}${detail}${hint}`,
      ),
    ),
  )
})

/** The option that a key of the configuration means: by id, else by a category that only one option has (S124). */
const find = (options: ReadonlyArray<ConfigOption>, key: string): ConfigOption | undefined => {
  const named = options.find((option) => option.id === key)
  if (named !== undefined) return named
  const sorted = options.filter((option) => option.category === key)
  return sorted.length === 1 ? sorted[0] : undefined
}

const fits = (option: ConfigOption, value: string | boolean): boolean =>
  (option.type === "select" && typeof value === "string") || (option.type === "boolean" && typeof value === "boolean")

/** Sets the options of a profile in key order, each against the list that the one before it returned (S125). */
export const applyOptions = Effect.fnUntraced(function* (
  profile: Profile,
  session: Session,
): Effect.fn.Return<void, SubagentError> {
  for (const [key, value] of profile.policy.options) {
    const options = yield* session.options
    const option = find(options, key)
    if (option === undefined) {
      const known = options.filter((other) => !isModel(other)).map((other) => other.id)
      const message = `ACP harness does not advertise an unambiguous config option ${quote(key)}${suggestion(key, known)}`
      return yield* rejected("OPTION_REJECTED", message)
    }
    if (isModel(option))
      return yield* rejected("OPTION_REJECTED", "use the subagent model override instead of a model config option")
    if (!fits(option, value))
      return yield* rejected("OPTION_REJECTED", `ACP config option ${quote(key)} has an incompatible value type`)
    yield* Effect.mapError(session.setOption(option.id, value), (error) =>
      refusal(profile, error, (detail) =>
        rejected("OPTION_REJECTED", `ACP harness ${quote(profile.reference)} rejected config option ${quote(key)}${detail}`),
      ),
    )
  }
})

export * as SessionSetup from "./SessionSetup.ts"
