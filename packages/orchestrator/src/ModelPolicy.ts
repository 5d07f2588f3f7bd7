import * as Result from "effect/Result"
import { suggestion } from "./Nearest.ts"
import { SubagentError } from "./SubagentError.ts"

/** What the configuration says of one harness beyond its launch line (S124 to S126). */
export interface Policy {
  /** Names of the configuration for model ids of this harness. */
  readonly aliases: ReadonlyMap<string, string>
  /** Model ids that a call may ask for; absent for all, empty for none. It never restricts the harness's own default. */
  readonly allowed?: ReadonlyArray<string>
  /** Options to set after the model, by byte order of their keys. */
  readonly options: ReadonlyArray<readonly [key: string, value: string | boolean]>
}

export const none: Policy = { aliases: new Map(), options: [] }

/** The model id to select for what a call asked for: an alias is resolved first, the id is checked then. Nothing is started before (S126). */
export const resolve = (policy: Policy, harness: string, asked: string): Result.Result<string, SubagentError> => {
  const model = policy.aliases.get(asked) ?? asked
  if (policy.allowed === undefined || policy.allowed.includes(model)) return Result.succeed(model)
  return Result.fail(
    new SubagentError({
      code: "MODEL_REJECTED",
      message:
        `model override ${JSON.stringify(asked)} resolves to ${JSON.stringify(model)}, which is not allowed for ACP harness ${JSON.stringify(harness)}` +
        suggestion(asked, [...policy.aliases.keys(), ...policy.allowed]),
      retryable: false,
    }),
  )
}

export * as ModelPolicy from "./ModelPolicy.ts"
