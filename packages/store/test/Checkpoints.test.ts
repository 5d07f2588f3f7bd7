import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DiskFaulty } from "../src/DiskFaulty.ts"
import { DiskModel, layerOf } from "../src/DiskModel.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { agentId, childOf } from "./Backends.ts"

describe("checkpoints", () => {
  it.live("S100 S102 are on disk when they are acknowledged, and a disk that is full or broken blocks them", () =>
    Effect.gen(function* () {
      const model = new DiskModel({ tracking: true })
      let fault: DiskFaulty.Fault | undefined
      const storeOver = (disk: DiskModel) =>
        SessionStore.layerDisk({ home: "/home" }).pipe(
          Layer.provide(
            Layer.provideMerge(
              Layer.fresh(Lock.layerMemory),
              DiskFaulty.layerWith(({ call }) => (call === "write" || call === "sync" ? fault : undefined)),
            ),
          ),
          Layer.provide(layerOf(disk)),
        )
      const id = yield* agentId
      const record = childOf(id, {
        cwd: "/project",
        generation: 3,
        handle_generation: 3,
        acp_session_id: "acp-7",
        name: "Reviewer",
      })
      const afterPowerLoss = Effect.suspend(() =>
        Effect.gen(function* () {
          const store = yield* SessionStore.Service
          return yield* Effect.scoped(Effect.flatMap(store.openWriter("one"), (session) => session.children))
        }).pipe(Effect.provide(storeOver(model.afterPowerLoss(() => 0)))),
      )

      yield* Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const session = yield* store.create({ id: "one", cwd: "/w" })
        yield* session.appendChild(record)
        expect(yield* afterPowerLoss).toEqual([record])
        for (const [code, expected] of [
          ["ENOSPC", "NO_SPACE"],
          ["EIO", "IO"],
        ] as const) {
          fault = { code }
          const error = yield* Effect.flip(session.appendChild({ ...record, lifecycle: "Interrupted" }))
          expect(error.code).toBe(expected)
          expect(yield* session.children).toEqual([record])
          fault = undefined
          expect(yield* afterPowerLoss).toEqual([record])
        }
        const interrupted = { ...record, lifecycle: "Interrupted" } as const
        yield* session.appendChild(interrupted)
        expect(yield* afterPowerLoss).toEqual([interrupted])
      }).pipe(Effect.scoped, Effect.provide(storeOver(model)))
    }),
  )
})
