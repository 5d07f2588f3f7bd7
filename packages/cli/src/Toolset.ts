import { LocalTools } from "@acp-kit/agent/LocalTools"
import type { Subagents } from "@acp-kit/orchestrator/Subagents"
import { SubagentTools } from "@acp-kit/orchestrator/SubagentTools"
import { Host } from "@acp-kit/platform/Host"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** Every tool that a program of `kit compose` can call: the six verbs, `shell` and `edit`. `root` is absolute. */
export const make = Effect.fnUntraced(function* (subagents: Subagents.Interface, root: string) {
  const host = yield* Host.Service
  return [...SubagentTools.make(subagents), ...(yield* LocalTools.make({ root, env: host.env }))]
})

const uncalled = () => Effect.die(new Error("a program that is only checked calls nothing"))

const declared: Subagents.Interface = {
  subagent: uncalled,
  prompt: uncalled,
  fork: uncalled,
  steer: uncalled,
  close: uncalled,
  subagents: uncalled,
  roster: Effect.succeed([]),
  events: Stream.empty,
}

/** The same tools to compile against, where nothing will be called. */
export const declarations = Effect.flatMap(Host.Service, (host) => make(declared, host.cwd))

export * as Toolset from "./Toolset.ts"
