import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Files } from "@acp-kit/platform/Files"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AgentSession } from "../src/AgentSession.ts"
import { AgentSessions } from "../src/AgentSessions.ts"
import { ScriptedProvider } from "../src/ScriptedProvider.ts"
import type { Settings } from "../src/SessionParts.ts"
import { TurnLoop } from "../src/TurnLoop.ts"

/** What sessions stand on: the machine's files and a store in memory. */
export const machine = Layer.mergeAll(Files.layer, SessionStore.layerMemory)

/** An empty directory that goes with the test. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kit-sessions-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

/** What sessions are made with where a test says nothing else. */
export const settings: Settings = {
  provider: ScriptedProvider.make(),
  selection: { model: "scripted", effort: "default" },
  system: "",
  limits: TurnLoop.defaultLimits,
  origin: "top_level",
  structured: false,
  tools: () => Effect.succeed([]),
}

/** The sessions of one process on the scripted model. */
export const sessionsOf = (changed: Partial<Settings> = {}) =>
  Effect.map(Layer.build(AgentSessions.layerWith({ ...settings, ...changed })), (context) =>
    Context.get(context, AgentSessions.Service),
  )

export const view = () => Effect.void
export const text = (text: string) => [{ type: "text", text }]

/** Says something and waits for the end of the turn. */
export const say = Effect.fnUntraced(function* (session: AgentSession, words: string) {
  return yield* (yield* session.begin(text(words), Effect.void)).result
})

/** The kinds of what stands in the history. */
export const shape = (session: AgentSession) => session.history.items().map(({ type }) => type)
