import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { SessionStore } from "../src/SessionStore.ts"
import { temporaryHome } from "./Backends.ts"
import { command, type Running, start } from "./Launch.ts"

const { KIT_TEST_KILLS, KIT_TEST_LONG, KIT_TEST_CI } = process.env
const long = KIT_TEST_LONG === "1"
const kills = Number(KIT_TEST_KILLS ?? (long ? 1_000 : KIT_TEST_CI === "1" ? 100 : 6))

/** A process that is gone with the test, however the test ends. */
const running = (script: string, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => start(command(script, args))),
    (process) => Effect.promise(() => process.kill()),
  )

const nextLine = (process: Running) =>
  Effect.flatMap(
    Effect.promise(() => process.line()),
    (line) => (line === undefined ? Effect.die(new Error(`the script ended: ${process.stderr()}`)) : Effect.succeed(line)),
  )

const withStore = <A, E>(home: string, use: (store: SessionStore.Interface) => Effect.Effect<A, E>) =>
  Effect.flatMap(SessionStore.Service, use).pipe(Effect.provide(SessionStore.layerWith({ home })))

/** What the store holds after a kill, of what the lines say was acknowledged. */
const audit = (home: string, id: string, seed: number, lines: ReadonlyArray<string>) =>
  withStore(home, (store) =>
    Effect.scoped(
      Effect.gen(function* () {
        const session = yield* store.openWriter("kill")
        const { meta, context } = yield* session.subagents.load(id)
        const events = new Set<string>()
        const gaps: Array<string> = []
        let last = 0
        yield* Stream.runForEach(session.subagents.replay(id), (element) =>
          Effect.sync(() => {
            if ("gap" in element) return void gaps.push(JSON.stringify(element))
            if (element.seq !== last + 1) gaps.push(`${last} then ${element.seq}`)
            last = element.seq
            const frame = (element.body as { frame?: { payload?: string } }).frame
            if (frame?.payload !== undefined) events.add(frame.payload)
          }),
        )
        const items = new Set(yield* session.items)
        const lost = lines.filter((line) => {
          const [kind, value] = line.split(" ") as [string, string]
          return (kind === "event" && !events.has(value)) || (kind === "item" && !items.has(value))
        })
        const rev = lines
          .filter((line) => line.startsWith("meta "))
          .at(-1)
          ?.slice(5)
        if (rev !== undefined && meta.rev < Number(rev)) lost.push(`meta ${rev}`)
        const saved = lines.some((line) => line.startsWith("context "))
        const messages = context.messages
        if (saved && context.seed !== String(seed)) lost.push("context")
        if (Array.isArray(messages) && messages.length !== context.size) lost.push("half a context")
        const cut = session.warnings.filter((warning) => warning.kind === "torn_tail_cut").length
        return { lost, gaps, cut }
      }),
    ),
  )

describe("processes that are killed", () => {
  it.live(
    "K06 K08 K14 T2 lose nothing that was acknowledged",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const home = yield* temporaryHome
          let acknowledged = 0
          let torn = 0
          for (let seed = 1; seed <= kills; seed++) {
            const process = yield* running("Appender", [home, String(seed)])
            const opened = yield* nextLine(process)
            const lines: Array<string> = []
            const wanted = 1 + ((seed * 7) % 13)
            while (lines.length < wanted) lines.push(yield* nextLine(process))
            // The moment of death is what is random here; nothing is waited for.
            yield* Effect.sleep((seed * 3) % 8)
            yield* Effect.promise(() => process.kill())
            lines.push(...(yield* Effect.promise(() => process.rest())))
            const { lost, gaps, cut } = yield* audit(home, opened.slice(7), seed, lines)
            expect({ seed, lost, gaps }).toEqual({ seed, lost: [], gaps: [] })
            acknowledged += lines.length
            torn += cut
            if (seed % 25 === 0) fs.rmSync(path.join(home, "sessions"), { recursive: true })
          }
          console.log(`${kills} kills, ${acknowledged} acknowledged, 0 lost, ${torn} torn tails of transcripts cut`)
        }),
      ),
    3_600_000,
  )
})

describe("a session's lock", () => {
  it.live("T6 is won by one of eight, and by the next when its holder dies", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const home = yield* temporaryHome
        yield* withStore(home, (store) => Effect.scoped(store.create({ id: "race", cwd: "/w" })))
        const all = yield* Effect.forEach(Array.from({ length: 8 }), () => running("Contender", [home, "race"]))
        for (const one of all) expect(yield* nextLine(one)).toBe("ready")
        const wins = new Map(all.map((process, index) => [index, process.line().then((line) => ({ line, index }))] as const))
        const takeovers: Array<number> = []
        let killed = 0
        for (let round = 1; round <= 8; round++) {
          const { line, index } = yield* Effect.promise(() => Promise.race(wins.values()))
          expect(line).toBe("won")
          if (round > 1) takeovers.push(performance.now() - killed)
          const writers = yield* withStore(home, (store) => Effect.flatMap(store.openReader("race"), (reader) => reader.items))
          expect(writers.length).toBe(round)
          expect(writers.at(-1)).toBe(all[index]?.child.pid)
          wins.delete(index)
          killed = performance.now()
          yield* Effect.promise(() => (all[index] as Running).kill())
        }
        takeovers.sort((a, b) => a - b)
        console.log(`takeovers: median ${takeovers[3]?.toFixed(1)} ms, slowest ${takeovers[6]?.toFixed(1)} ms`)
      }),
    ),
  )

  it.live(
    "T7 stays through collection, second openings and reads of its owner, and is free at the owner's death though a child lives",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const home = yield* temporaryHome
          const holder = yield* running("Holder", [home, "held"])
          const line = yield* nextLine(holder)
          expect(line).toMatch(/^held \d+$/)
          const child = Number(line.slice(5))
          yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(child, "SIGKILL")))
          const probe = yield* running("Probe", [home, "held"])
          const answer = yield* nextLine(probe)
          expect(answer).toMatch(/^LOCKED session "held" is open for writing in process \d+ on /)
          expect(answer).toContain(`process ${holder.child.pid} `)
          yield* Effect.promise(() => holder.kill())
          expect(() => process.kill(child, 0)).not.toThrow()
          const after = yield* running("Probe", [home, "held"])
          expect(yield* nextLine(after)).toBe("open")
        }),
      ),
  )

  it.live("is no matter of a file that a dead process left", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const home = yield* temporaryHome
        yield* withStore(home, (store) => Effect.scoped(store.create({ id: "one", cwd: "/w" })))
        const file = path.join(home, "sessions/one/.writer.json")
        fs.writeFileSync(file, JSON.stringify({ pid: process.pid, host: "elsewhere", since: "2020-01-01T00:00:00.000Z" }))
        yield* withStore(home, (store) => Effect.scoped(store.openWriter("one")))
      }),
    ),
  )
})

describe("readers", () => {
  it.live("K06 T8 see an old document or a new one, never half of one", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const home = yield* temporaryHome
        const file = path.join(home, "context.json")
        const writer = yield* running("Rewriter", [file, long ? "10000" : "400"])
        expect(yield* nextLine(writer)).toBe("begun")
        let reads = 0
        let last = 0
        let done = false
        writer.exit.then(() => {
          done = true
        })
        while (!done) {
          const document = JSON.parse(fs.readFileSync(file, "utf8")) as { number: number; filler: string }
          expect(document.number).toBeGreaterThanOrEqual(last)
          expect(document.filler.length).toBe(document.number === 0 ? 0 : (document.number * 7919) % 60_000)
          last = document.number
          if (++reads % 50 === 0) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
        expect(last).toBeGreaterThan(0)
        console.log(`${reads} reads, 0 partial`)
      }),
    ),
  )
})
