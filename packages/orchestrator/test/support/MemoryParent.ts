import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import { Subagents } from "@acp-kit/orchestrator/Subagents"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { host, type MemoryAgents, profile } from "./MemoryAgents.ts"

/** All that a parent of {@link MemoryAgents} needs, its sessions in that store. */
export const services = (agents: MemoryAgents, store: Layer.Layer<SessionStore.Service>) =>
  Layer.mergeAll(agents.layer, Files.layer, Host.layerWith(host), JsonSchemas.layer, store)

/** Opens a session that exists, or a new one. */
export const open = Effect.fnUntraced(function* (known: string | undefined) {
  const store = yield* SessionStore.Service
  const session = yield* known === undefined ? store.create({ cwd: "/" }) : store.openWriter(known)
  const subagents = yield* Subagents.make({
    session,
    depth: 0,
    root: "/",
    additionalDirectories: [],
    harnesses: { profiles: [profile], default: profile.reference },
    inherited: Effect.succeed({}),
  })
  return { session, ...subagents }
})

export * as MemoryParent from "./MemoryParent.ts"
