import { TextFile } from "@acp-kit/platform/TextFile"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import type { Interface as Provider } from "./ModelProvider.ts"
import { Scripts } from "./Script.ts"
import { ScriptedProvider } from "./ScriptedProvider.ts"

/** No model can be asked with these settings. */
export class ProviderUnavailable extends Schema.TaggedError<ProviderUnavailable>()("ProviderUnavailable", {
  message: Schema.String,
}) {}

export interface Options {
  /** As in the configuration; `scripted` where nothing is configured. */
  readonly provider?: string | undefined
  /** Absolute path of the rules of the scripted model. */
  readonly script?: string | undefined
}

/** The provider of a configuration. */
export const make = Effect.fn("Providers.make")(function* (
  options: Options,
): Effect.fn.Return<Provider, ProviderUnavailable, FileSystem.FileSystem> {
  const { provider = "scripted", script } = options
  if (provider !== "scripted") {
    return yield* new ProviderUnavailable({ message: `unknown provider ${JSON.stringify(provider)}; there is: scripted` })
  }
  if (script === undefined) return ScriptedProvider.make()
  const unusable = (why: string) => new ProviderUnavailable({ message: `the script of the scripted model: ${why}` })
  const text = yield* Effect.mapError(TextFile.read(script), ({ message }) => unusable(message))
  const rules = yield* Effect.mapError(Scripts.decode(TextFile.unmarked(text)), ({ reason }) =>
    unusable(`could not use ${script}: ${reason}`),
  )
  return ScriptedProvider.make(rules)
})

export * as Providers from "./Providers.ts"
