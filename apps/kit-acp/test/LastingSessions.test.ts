import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Processes } from "@acp-kit/platform/Processes"
import { appears, touch } from "@acp-kit/testing/Appears"
import { rounds } from "@acp-kit/testing/Rounds"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { block, machine, text } from "./Machine.ts"
import { parent } from "./Parent.ts"

const count = rounds({ quick: 3, ci: 10, long: 40 })

it.layer(Processes.layer, { excludeTestServices: true })("sessions of kit acp", (it) => {
  it.effect("S104 go on in another process: by load, by resume with replay, and by the launch of a parent", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const first = yield* parent(here, 2, "--session-id", "s-01a22ebc-1d16-7fc7-a5c8-4773db9c93aa")
      const { id } = yield* first.open
      yield* first.ask("one")
      yield* first.end
      for (const version of [1, 2] as const) {
        const next = yield* parent(here, version)
        const session = yield* next.agent.attach({ sessionId: id, cwd: here.root })
        expect(session.replay).toMatchObject({ userMessages: version, agentMessages: version })
        yield* Effect.asVoid(session.prompt(text(`version ${version}`)))
        yield* next.end
      }
      const launched = yield* parent(here, 2, "--session-id", id, "--resume")
      const session = yield* launched.open
      expect([session.id, session.replay.updates]).toEqual([id, 0])
      expect((yield* session.prompt(text("x"))).usage?.used).toBeGreaterThan(
        Math.ceil("one echo: one version 1 echo: version 1".length / 4),
      )
    }),
  )

  it.effect("K07 begin where a Kit that was launched for the same agent died before its first prompt", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const launch = ["--session-id", "s-01a22ebc-1d16-7fc7-a5c8-4773db9c93aa"] as const
      const first = yield* parent(here, 2, ...launch)
      const { id } = yield* first.open
      yield* first.kill
      const next = yield* parent(here, 2, ...launch)
      const session = yield* next.open
      expect([session.id, (yield* session.prompt(text("x"))).text]).toEqual([id, "echo: x"])
      yield* next.end
      const third = yield* parent(here, 2, ...launch)
      expect(yield* Effect.flip(third.open)).toMatchObject({ message: expect.stringContaining("already exists") })
    }),
  )

  it.effect("S105 are not replaced by new ones where they are gone", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const next = yield* parent(here, 2, "--session-id", "s-01a22ebc-1d16-7fc7-a5c8-4773db9c93aa", "--resume")
      expect((yield* Effect.flip(next.open)).message).toContain("not found")
      expect(existsSync(here.kitHome)).toBe(false)
    }),
  )

  it.effect("S101 give back the handles of their children, which go on where they were", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const first = yield* parent(here, 1)
      const { id } = yield* first.open
      const child = JSON.parse(yield* first.ask(block('return subagent({ prompt: "one", name: "Helper" })')))
      yield* first.end
      const next = yield* parent(here, 2)
      const session = yield* next.agent.attach({ sessionId: id, cwd: here.root })
      const ask = (program: string) => Effect.map(session.prompt(text(block(program))), (turn) => turn.text)
      expect(JSON.parse(yield* ask("return subagents({})"))).toMatchObject([
        { id: child.id, name: "Helper", status: "idle", generation: 1 },
      ])
      expect(yield* here.running.pipe(Effect.map((processes) => processes.length))).toBe(1)
      const { output, generation } = child
      const handle = JSON.stringify({ id: child.id, name: "Helper", output, generation })
      expect(JSON.parse(yield* ask(`return prompt({ subagent: ${handle}, prompt: "two" })`))).toMatchObject({
        id: child.id,
        output: "echo: two",
        generation: 2,
      })
      yield* next.end
      expect(yield* here.running).toEqual([])
    }),
  )

  it.effect("S130 fork natively on both versions, and the source goes on", () =>
    Effect.gen(function* () {
      const here = yield* machine
      for (const version of [1, 2] as const) {
        const kit = yield* parent(here, version)
        expect(kit.agent.capabilities.fork).toBe(true)
        const source = yield* kit.open
        yield* kit.ask("one")
        const branch = yield* source.fork({ cwd: here.root })
        expect((yield* branch.prompt(text("two"))).text).toBe("echo: two")
        expect(yield* kit.ask("three")).toBe("echo: three")
        yield* kit.end
      }
    }),
  )

  it.effect("S30 S31 take guidance in a working turn, whose id comes back, and finish the turn with it", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const kit = yield* parent(here, 2)
      const session = yield* kit.open
      const turn = yield* session.begin(
        text(block('return shell({ command: "touch started; while ! test -e go; do sleep 0.02; done" }).success')),
      )
      yield* appears(join(here.root, "started"))
      const receipt = yield* session.steer(text("be brief"))
      expect(receipt).toMatchObject({ messageId: expect.any(String) })
      yield* touch(join(here.root, "go"))
      expect((yield* turn.result).text).toBe("echo: be brief")
    }),
  )

  it.effect(
    "keep every acknowledged turn wherever the process is killed, and go on",
    () =>
      Effect.gen(function* () {
        const here = yield* machine
        for (let round = 0; round < count; round++) {
          const version = round % 2 === 0 ? 1 : 2
          const kit = yield* parent(here, version)
          const { id } = yield* kit.open
          const acknowledged: Array<string> = []
          const talking = Effect.gen(function* () {
            for (let turn = 0; ; turn++) {
              const words = `turn ${round}.${turn}`
              yield* kit.ask(turn % 3 === 0 ? block(`return "${words}"`) : words)
              acknowledged.push(words)
            }
          })
          const moment = yield* Random.nextIntBetween(0, 400)
          yield* Effect.raceFirst(Effect.exit(talking), Effect.andThen(Effect.sleep(moment), kit.kill))
          const next = yield* parent(here, version)
          const session = yield* next.agent.attach({ sessionId: id, cwd: here.root })
          const raw = readFileSync(join(here.kitHome, "sessions", id, "transcript.jsonl"), "utf8")
          for (const words of acknowledged) expect(raw).toContain(words)
          expect(session.replay.userMessages).toBeGreaterThanOrEqual(acknowledged.length)
          expect((yield* session.prompt(text("and on"))).text).toBe("echo: and on")
          yield* next.end
        }
      }),
    300_000,
  )
})
