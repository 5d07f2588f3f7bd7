import { type ConfigOption, chooseOption, isModel, modelOption, type OptionRefused } from "@acp-kit/protocol/Options"
import type { ProtocolError } from "@acp-kit/protocol/ProtocolError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Attachment } from "./Child.ts"
import type { Quote } from "./ChildWords.ts"
import type { Profile } from "./Harness.ts"
import { LaunchError } from "./LaunchError.ts"
import { suggestion } from "./Nearest.ts"
import { SubagentError } from "./SubagentError.ts"

type SetError = ProtocolError.CallError | ProtocolError.SessionRetired

const rejected = (code: "MODEL_REJECTED" | "OPTION_REJECTED", message: string) =>
  new SubagentError({ code, message, retryable: false })

const quote = (text: string) => JSON.stringify(text)

/** The words of a child's refusal; an answer of any other kind is the failure of the start. */
const refusal = (profile: Profile, quote: Quote, error: SetError, say: (detail: string) => SubagentError): SubagentError =>
  error._tag === "RpcError" ? say(`: ${quote(error.message)}`) : LaunchError.ofStart(profile, error, [], quote)

/** Selects a model explicitly (S22); succeeds with the option list after it. `of` says whose session it is. */
export const selectModel = Effect.fnUntraced(function* (
  profile: Profile,
  { connection, session }: Attachment,
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
    refusal(profile, connection.quote, error, (detail) =>
      rejected(
        "MODEL_REJECTED",
        `ACP harness ${quote(profile.reference)} rejected model selection ${quote(model)}${of}${detail}${hint}`,
      ),
    ),
  )
})

/** The words of a refusal, with the nearest key where none was found. */
const wordsOf = (refused: OptionRefused, options: ReadonlyArray<ConfigOption>): string => {
  if (refused.reason !== "missing" && refused.reason !== "ambiguous") return refused.message
  const known = options.filter((option) => !isModel(option)).map(({ id }) => id)
  return refused.message + suggestion(refused.key, known)
}

/** Sets the options of a profile in key order, each against the list that the one before it returned (S125). */
export const applyOptions = Effect.fnUntraced(function* (
  profile: Profile,
  { connection, session }: Attachment,
): Effect.fn.Return<void, SubagentError> {
  for (const [key, value] of profile.policy.options) {
    const options = yield* session.options
    const option = chooseOption(options, key, value)
    if (Result.isFailure(option)) return yield* rejected("OPTION_REJECTED", wordsOf(option.failure, options))
    yield* Effect.mapError(session.setOption(option.success.id, value), (error) =>
      refusal(profile, connection.quote, error, (detail) =>
        rejected("OPTION_REJECTED", `ACP harness ${quote(profile.reference)} rejected config option ${quote(key)}${detail}`),
      ),
    )
  }
})

export * as SessionSetup from "./SessionSetup.ts"
