import type { Settings } from "@acp-kit/orchestrator/Config"
import type { Inheritance } from "@acp-kit/orchestrator/Inheritance"
import { Host } from "@acp-kit/platform/Host"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"

/** What `acp.kit` children of a command take over from its configuration (S91); `config` is what `--config` named. */
export const inherited = Effect.fnUntraced(function* (settings: Settings, config: string | undefined) {
  const host = yield* Host.Service
  const path = yield* Path.Path
  const { model, provider, reasoningEffort, mcpConfig } = settings
  const inheritance: Inheritance = {
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(mcpConfig === undefined ? {} : { mcpConfig: path.resolve(host.cwd, mcpConfig) }),
    ...(config === undefined ? {} : { config: path.resolve(host.cwd, config) }),
  }
  return inheritance
})
