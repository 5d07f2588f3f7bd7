import { fileURLToPath } from "node:url"
import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import type { Harness } from "@acp-kit/orchestrator/Harness"
import { ModelPolicy } from "@acp-kit/orchestrator/ModelPolicy"
import { Subagents } from "@acp-kit/orchestrator/Subagents"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { Processes } from "@acp-kit/platform/Processes"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { kit } from "../Launch.ts"

const script = fileURLToPath(new URL("../fixtures/agent.js", import.meta.url))

/** The launch line of the least agent. */
export const agent = (...args: ReadonlyArray<string>): readonly [string, ...ReadonlyArray<string>] => [
  process.execPath,
  script,
  ...args,
]

const profile = (
  name: string,
  [command, ...args]: readonly [string, ...ReadonlyArray<string>],
  isKit = false,
): Harness.Profile => ({
  reference: `acp.${name}`,
  name,
  command,
  args,
  source: "configured ACP profile",
  isKit,
  policy: ModelPolicy.none,
})

const profiles = [
  profile("agent", agent()),
  profile("stubborn", agent("--stubborn")),
  profile("kit", [kit[0] as string, ...kit.slice(1), "acp", "--protocol-version", "2"], true),
]

/** What a parent needs, its sessions below `home`, or in memory where nothing is to be written. */
export const services = (home: string, store: "disk" | "memory") =>
  Layer.mergeAll(
    Processes.layer,
    Files.layer,
    JsonSchemas.layer,
    Host.layerWith({
      env: process.env as Record<string, string>,
      kitHome: home,
      cwd: home,
      self: [kit[0] as string, ...kit.slice(1)],
      version: "0",
    }),
    store === "disk" ? SessionStore.layerWith({ home }) : SessionStore.layerMemory,
  )

/** A parent session: a new one, or one that exists. */
export const open = Effect.fnUntraced(function* (home: string, known?: string) {
  const sessions = yield* SessionStore.Service
  const session = yield* known === undefined ? sessions.create({ cwd: home }) : sessions.openWriter(known)
  const subagents = yield* Subagents.make({
    session,
    depth: 0,
    root: home,
    additionalDirectories: [],
    harnesses: { profiles, default: "acp.agent" },
    inherited: Effect.succeed({ provider: "scripted" }),
  })
  return { ...subagents, session, id: session.id }
})

/** Unix milliseconds, in fractions. */
export const now = (): number => performance.timeOrigin + performance.now()
