/**
 * One operation of the store, measured in this process and runtime: `operations.ts NAME HOME`. Prints one line of JSON: `ms`, a number per round; where it
 * makes sense `count` of things per round, `bytes` written, `resident` growth in MiB.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import * as AgentLaunchSpec from "@acp-kit/store/AgentLaunchSpec"
import { Disk } from "@acp-kit/store/Disk"
import { DiskNode } from "@acp-kit/store/DiskNode"
import { Document } from "@acp-kit/store/Document"
import { Frame } from "@acp-kit/store/Frame"
import type { Json } from "@acp-kit/store/Json"
import { Lock } from "@acp-kit/store/Lock"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const [name, home] = process.argv.slice(2) as [string, string]

export const AGENTS = 10_000
export const LINES = 252_526
const turns = 200
const frame = `{"jsonrpc":"2.0","method":"session/update","params":{"text":"${"x".repeat(300)}"}}`

let written = 0
/** The disk of this machine, with the bytes it is given counted. */
const counting = Layer.effect(
  Disk.Service,
  Effect.map(Disk.Service, (disk) => ({
    ...disk,
    write: (file: Parameters<typeof disk.write>[0], bytes: Uint8Array) => {
      written += bytes.length
      return disk.write(file, bytes)
    },
  })),
).pipe(Layer.provide(DiskNode.layer))

const store = SessionStore.layerDisk({ home }).pipe(Layer.provideMerge(Layer.mergeAll(counting, Lock.layer)))

const timed = async (rounds: number, run: () => Promise<unknown>): Promise<ReadonlyArray<number>> => {
  const values: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    await run()
    values.push(performance.now() - began)
  }
  return values
}

const inSession = <A>(id: string, use: (session: SessionStore.SessionWriter, agent: string) => Effect.Effect<A, unknown>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const sessions = yield* SessionStore.Service
        const session = yield* sessions.create({ id, cwd: "/w" })
        const { agent_id } = yield* session.subagents.create(AgentLaunchSpec.make({ name: "a" }), "p")
        return yield* use(session, agent_id)
      }),
    ).pipe(Effect.provide(store)),
  )

const read = <A>(use: (sessions: SessionStore.Interface) => Effect.Effect<A, unknown>) =>
  Effect.runPromise(Effect.flatMap(SessionStore.Service, use).pipe(Effect.provide(store)))

const agentOf = (index: number) => `s-01a22eb1-d6f4-7c12-8c07-${index.toString(16).padStart(12, "0")}`

const message = (turn: number): Json => ({ role: "assistant", text: `${turn} `.repeat(50_000 / `${turn} `.length) })

const operations: Readonly<Record<string, () => Promise<unknown>>> = {
  /** Records synced one by one, and 32 at a time. */
  append: () =>
    inSession(`append-${process.pid}`, (session, agent) =>
      Effect.promise(async () => {
        const one = () => Effect.runPromise(session.subagents.append(agent, { direction: "in", frame }, "disk"))
        const many = () => Promise.all(Array.from({ length: 32 }, one))
        await timed(50, one)
        const single: Array<number> = []
        const group: Array<number> = []
        for (let round = 0; round < 60; round++) {
          single.push(...(await timed(4, one)))
          group.push(...(await timed(2, many)).map((ms) => ms / 32))
        }
        return { single, group }
      }),
    ),

  /** A conversation that grows by 50 KB a turn, saved each turn. */
  turns: () =>
    inSession(`turns-${process.pid}`, (session, agent) =>
      Effect.gen(function* () {
        written = 0
        const began = performance.now()
        let messages: ReadonlyArray<Json> = []
        for (let turn = 0; turn < turns; turn++) {
          messages = [...messages, message(turn)]
          yield* session.subagents.saveContext(agent, { messages })
        }
        yield* session.subagents.flush(agent)
        const ms = [performance.now() - began]
        return { ms, bytes: written, content: JSON.stringify(messages).length }
      }),
    ),

  /** The same, written whole each turn. */
  rewrite: () =>
    Effect.runPromise(
      Effect.gen(function* () {
        written = 0
        const began = performance.now()
        let messages: ReadonlyArray<Json> = []
        for (let turn = 0; turn < turns; turn++) {
          messages = [...messages, message(turn)]
          yield* Document.write(join(home, `rewritten-${process.pid}.json`), { messages })
        }
        return { ms: [performance.now() - began], bytes: written }
      }).pipe(Effect.provide(store)),
    ),

  /** Makes what `list`, `tail` and `replay` read. */
  prepare: async () => {
    const agent = await inSession("big", (_, id) => Effect.succeed(id))
    const parent = join(home, "sessions/big/subagents")
    const meta = readFileSync(join(parent, agent, "meta.json"), "utf8")
    for (let index = 1; index < AGENTS; index++) {
      const id = agentOf(index)
      mkdirSync(join(parent, id))
      writeFileSync(join(parent, id, "meta.json"), meta.replaceAll(agent, id))
    }
    const log = openSync(join(parent, agent, "wire.log"), "a")
    let chunk: Array<Uint8Array> = []
    for (let seq = 2; seq <= LINES; seq++) {
      chunk.push(
        Frame.encode(
          seq,
          1_780_000_000_000 + seq,
          "event",
          1,
          `{"dir":"in","frame":${frame.replace("xxxx", String(seq % 10_000))}}`,
        ),
      )
      if (chunk.length === 10_000 || seq === LINES) {
        writeSync(log, Buffer.concat(chunk))
        chunk = []
      }
    }
    fsyncSync(log)
    closeSync(log)
    return { agent }
  },

  list: async () => ({
    ms: await timed(7, () => read((sessions) => Effect.flatMap(sessions.openReader("big"), (reader) => reader.subagents.list()))),
    count: AGENTS,
  }),

  tail: async () => {
    const agent = process.argv[4] as string
    const before = process.memoryUsage.rss()
    const ms = await timed(20, () =>
      read((sessions) => Effect.flatMap(sessions.openReader("big"), (reader) => reader.subagents.tail(agent, 200))),
    )
    return { ms, resident: (process.memoryUsage.rss() - before) / 2 ** 20 }
  },

  replay: async () => {
    const agent = process.argv[4] as string
    let count = 0
    const replay = () =>
      read((sessions) =>
        Effect.flatMap(sessions.openReader("big"), (reader) =>
          Stream.runForEachArray(reader.subagents.replay(agent), (records) =>
            Effect.sync(() => {
              count += records.length
            }),
          ),
        ),
      )
    await replay()
    const before = process.memoryUsage.rss()
    count = 0
    const ms = await timed(5, replay)
    return { ms, count: count / ms.length, resident: (process.memoryUsage.rss() - before) / 2 ** 20 }
  },
}

const operation = operations[name]
if (operation === undefined) throw new Error(`no operation ${name}`)
console.log(JSON.stringify(await operation()))
