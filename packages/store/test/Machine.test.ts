import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { SessionStore } from "../src/SessionStore.ts"
import { spec, temporaryHome } from "./Backends.ts"

const isRoot = process.env.KIT_TEST_CI === "1" && process.getuid?.() === 0

/** A file system of 64 KiB that goes with the scope. */
const smallDisk = Effect.flatMap(temporaryHome, (home) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", home])
      if (status !== 0) throw new Error(`mount: ${stderr}`)
      return home
    }),
    (mounted) => Effect.sync(() => spawnSync("umount", [mounted])),
  ),
)

describe.skipIf(!isRoot)("a machine of which we are master", () => {
  it.live("T9 a full file system is told at once, holds what was accepted, and loses none of it when space returns", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const home = yield* smallDisk
        yield* Effect.scoped(
          Effect.gen(function* () {
            const store = yield* SessionStore.Service
            const session = yield* store.create({ id: "one", cwd: "/w" })
            const { subagents } = session
            const { agent_id } = yield* subagents.create(spec, "p")
            const healths: Array<string> = []
            const watching = yield* Deferred.make<void>()
            const healed = yield* Deferred.make<void>()
            yield* store.health.pipe(
              Stream.runForEach((health) => {
                healths.push(health.state)
                return Deferred.succeed(healths.length < 3 ? watching : healed, undefined)
              }),
              Effect.forkScoped,
            )
            yield* Deferred.await(watching)
            const ballast = path.join(home, "ballast")
            fs.writeFileSync(ballast, new Uint8Array(16 * 1024))
            const frame = JSON.stringify({ filler: "x".repeat(900) })
            let accepted = 0
            let held = 0
            while (held < 8) {
              const { where } = yield* subagents.append(agent_id, { direction: "in", frame })
              accepted++
              if (where === "held") held++
            }
            const refused = [
              yield* Effect.flip(subagents.append(agent_id, { direction: "in", frame }, "disk")),
              yield* Effect.flip(subagents.setStatus(agent_id, "starting", "working")),
              yield* Effect.flip(subagents.create(spec, "p")),
              yield* Effect.flip(subagents.flush(agent_id)),
            ]
            expect(refused.map((error) => error.code)).toEqual(["NO_SPACE", "NO_SPACE", "NO_SPACE", "NO_SPACE"])
            expect(refused[0]?.message).toContain("free some, then try again")
            fs.rmSync(ballast)
            yield* subagents.flush(agent_id)
            yield* subagents.setStatus(agent_id, "starting", "working")
            yield* subagents.append(agent_id, { note: "after" }, "disk")
            const records = yield* Stream.runCollect(subagents.replay(agent_id))
            expect(records.length).toBe(1 + accepted + 1)
            expect(records.filter((record) => "gap" in record)).toEqual([])
            expect((yield* subagents.list()).length).toBe(1)
            yield* Deferred.await(healed)
            expect(healths).toEqual(["ok", "no_space", "ok"])
          }),
        ).pipe(Effect.provide(SessionStore.layerWith({ home })))
      }),
    ),
  )

  it.live("files of another user are refused with the remedy", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const home = yield* temporaryHome
        yield* Effect.gen(function* () {
          const store = yield* SessionStore.Service
          yield* Effect.scoped(store.create({ id: "one", cwd: "/w" }))
          fs.chownSync(path.join(home, "sessions/one"), 65534, 65534)
          const error = yield* Effect.flip(Effect.scoped(store.openWriter("one")))
          expect([error.code, error.message]).toEqual([
            "DENIED",
            `access to ${home}/sessions/one was denied (it belongs to user 65534); the store needs its files to belong to you: chown them, or set KIT_HOME elsewhere`,
          ])
        }).pipe(Effect.provide(SessionStore.layerWith({ home })))
      }),
    ),
  )
})
