import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { make as makeAgentId } from "../src/AgentId.ts"
import * as AgentLaunchSpec from "../src/AgentLaunchSpec.ts"
import type { ChildRecord } from "../src/ChildRecord.ts"
import { SessionStore } from "../src/SessionStore.ts"

/** An empty directory that goes with the scope. */
export const temporaryHome = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "kit-store-"))),
  (home) => Effect.sync(() => fs.rmSync(home, { recursive: true, force: true })),
)

type Test<A, E> = Effect.Effect<A, E, SessionStore.Service | Scope.Scope>

/** The store on disk, under a home that goes with the test. */
export const onDisk = <A, E>(test: (home: string) => Test<A, E>) =>
  Effect.scoped(
    Effect.flatMap(temporaryHome, (home) => Effect.scoped(test(home)).pipe(Effect.provide(SessionStore.layerWith({ home })))),
  )

/** The store in memory. */
export const inMemory = <A, E>(test: Test<A, E>) => Effect.scoped(test).pipe(Effect.provide(SessionStore.layerMemory))

/** Both stores, for the suites that each must pass. */
export const backends = [
  { name: "on disk", run: <A, E>(test: Test<A, E>) => onDisk(() => test) },
  { name: "in memory", run: <A, E>(test: Test<A, E>) => inMemory(test) },
] as const

export const spec = AgentLaunchSpec.make({ name: "reviewer", harness: "acp.kit", env: { REPO_PATH: "/home/user/project" } })

/** A child record that keeps every rule. */
export const childOf = (id: string, change: Partial<ChildRecord> = {}): ChildRecord => ({
  id,
  lifecycle: "Idle",
  acp_session_id: "acp-1",
  harness: "acp.kit",
  name: "Agent 1",
  cwd: "/w",
  generation: 1,
  handle_generation: 1,
  depth: 1,
  ...change,
})

export const agentId = makeAgentId
