import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { rounds } from "@acp-kit/testing/Rounds"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Task } from "./support/program.ts"
import { isObject, World } from "./support/World.ts"

const program = fileURLToPath(new URL("./support/program.ts", import.meta.url))
const count = rounds({ quick: 3, ci: 50, long: 1_000 })
const children = 20

interface Acknowledged {
  readonly id: string
  readonly name: string
  readonly output: string
  readonly generation: number
}

/** Runs the program and kills it so many milliseconds after its first acknowledged turn; what it said until then. */
const killed = (
  task: Task,
  after: number,
): Effect.Effect<{ readonly session: string; readonly said: ReadonlyArray<Acknowledged> }> =>
  Effect.callback((resume) => {
    const child = spawn(process.execPath, ["--conditions=@acp-kit/source", program, JSON.stringify(task)], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    })
    let text = ""
    let timer: ReturnType<typeof setTimeout> | undefined
    child.stdout.on("data", (chunk) => {
      text += chunk
      if (timer === undefined && text.includes("session")) timer = setTimeout(() => child.kill("SIGKILL"), after)
    })
    child.on("close", () => {
      clearTimeout(timer)
      const lines = text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line))
      resume(Effect.succeed({ session: lines[0]?.session, said: lines.filter((line) => typeof line.generation === "number") }))
    })
  })

/** The texts of all prompts that the agents read. A killed parent's last ones may be read after its end. */
const promptsOf = (world: World): ReadonlyArray<string> =>
  world.frames().flatMap(({ dir, message: { method, params } }) => {
    if (dir !== "in" || method !== "session/prompt" || !isObject(params) || !Array.isArray(params.prompt)) return []
    return [params.prompt.map((block) => block.text).join("")]
  })

describe("a parent that is killed", () => {
  it.live(
    "K08 K14 S100 S101 S103 finds every acknowledged turn with its output, doubles nothing, replays nothing, and reaps what was left running",
    () =>
      Effect.gen(function* () {
        let acknowledged = 0
        for (let round = 0; round < count; round++) {
          const world = yield* World.make({ harnesses: { review: { mood: { deaf: ["eof"] } } } })
          const task = { home: world.home, root: world.root, profile: world.profile("review", {}), children, turns: 2 }
          const { session, said } = yield* killed(task, round === 0 ? 3_000 : yield* Random.nextIntBetween(0, 2_500))
          acknowledged += said.length
          const parent = yield* world.open({ session, harnesses: { review: {} } })
          const last = new Map(said.map((value) => [value.id, value]))
          const records = new Map((yield* parent.session.children).map((record) => [record.id, record]))
          const rows = new Map((yield* parent.roster).map((row) => [row.id, row]))
          for (const [id, value] of last) {
            const record = records.get(id)
            expect(record?.generation).toBeGreaterThanOrEqual(value.generation)
            if (record?.generation === value.generation) expect(record.output).toBe(value.output)
            expect(rows.has(id)).toBe(record?.lifecycle === "Idle")
            const { context } = yield* parent.session.subagents.load(id)
            expect(isObject(context) ? context.generation : 0).toBeGreaterThanOrEqual(value.generation)
          }
          const names = [...records.values()].map((record) => record.name)
          expect(new Set(names).size).toBe(names.length)
          expect(names.length).toBeLessThanOrEqual(children)
          const restored = [...rows.values()]
          for (const row of restored) {
            const value = yield* parent.prompt({ subagent: { id: row.id, generation: row.generation }, prompt: "after" })
            expect(value).toMatchObject({ output: "echo: after", generation: row.generation + 1 })
          }
          yield* parent.subagent({ prompt: "another" })
          const prompts = promptsOf(world)
          expect(prompts.filter((prompt) => prompt === "after")).toHaveLength(restored.length)
          const before = prompts.filter((prompt) => prompt !== "after" && prompt !== "another")
          expect(before).toEqual([...new Set(before)])
          expect(world.alive()).toHaveLength(restored.length + 1)
          yield* parent.end
          expect(world.alive()).toEqual([])
        }
        expect(acknowledged).toBeGreaterThan(0)
      }),
    7_200_000,
  )
})
