import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { CodexAcp } from "@acp-kit/testing/CodexAcp"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { appears, failure, World } from "../test/support/World.ts"

let installed = ""

beforeAll(() => {
  installed = CodexAcp.install()
}, 300_000)

afterAll(() => rmSync(installed, { recursive: true, force: true }))

/** Command lines of running processes that name a folder. */
const processesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && existsSync(`/proc/${entry}/cmdline`))
    .map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"))
    .filter((line) => line.includes(folder))

describe(CodexAcp.harness, () => {
  it.live(
    "S10 S11 S13 S60 S101 S104 S140 S150 starts, goes on, answers in JSON, asks, is cancelled, is closed, and is found again after a restart",
    (context) =>
      Effect.gen(function* () {
        const launch = yield* CodexAcp.launchLine(installed)
        if (launch === undefined) return context.skip(`${CodexAcp.harness} could not be installed`)
        const [command, ...args] = launch
        const world = yield* World.make({ harnesses: { codex: { command, args } } })
        const parent = yield* world.open()

        const first = yield* parent.subagent({ prompt: "remember plums", name: "Vendor" })
        expect(first).toMatchObject({ name: "Vendor", generation: 1, output: expect.stringMatching(/hello from the loopback$/) })

        const output_schema = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] }
        const typed = yield* parent.prompt({ subagent: first, prompt: "in JSON", output_schema })
        expect(typed).toMatchObject({ generation: 2, output: { answer: 42 } })

        const ran = yield* parent.prompt({ subagent: typed, prompt: "run: echo made > made.txt" })
        expect(ran.output).toMatch(/ran$/)
        expect(readFileSync(`${world.root}/made.txt`, "utf8")).toBe("made\n")
        expect(ran.updates).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ kind: "execute" })]) })

        const doomed = yield* parent.subagent({ prompt: "hi", name: "Doomed" })
        const hanging = yield* Effect.forkChild(parent.prompt({ subagent: doomed, prompt: `hang: ${world.file("hanging")}` }))
        yield* appears(world.file("hanging"))
        yield* Fiber.interrupt(hanging)
        expect(yield* failure(parent.prompt({ subagent: doomed, prompt: "x" }))).toMatchObject({ code: "SUBAGENT_RETIRED" })

        const closed = yield* parent.subagent({ prompt: "hi", name: "Closed" })
        expect(yield* parent.close({ id: closed.id })).toEqual({ id: closed.id })
        yield* parent.end

        const later = yield* world.open()
        expect(yield* later.subagents({})).toMatchObject([{ id: first.id, name: "Vendor", status: "idle", generation: 3 }])
        expect(yield* later.prompt({ subagent: ran, prompt: "recall" })).toMatchObject({
          generation: 4,
          output: expect.stringMatching(/plums$/),
        })
        yield* later.end
        for (const { id } of [first, doomed, closed]) {
          expect(existsSync(world.file("home", "sessions", later.session.id, "subagents", id, "wire.log"))).toBe(true)
        }
        expect(processesOf(installed)).toEqual([])
      }),
    120_000,
  )
})
