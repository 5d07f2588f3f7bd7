import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Child, Processes } from "@acp-kit/platform/Processes"
import { it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Mood } from "../src/Mood.ts"
import { inFolder, type Launch } from "../src/ScriptedAgent.ts"
import { type Fields, fields } from "../src/scripted-agent/Value.ts"

/** A test about real processes. */
export const live = <E>(name: string, effect: () => Effect.Effect<unknown, E, Processes.Service | Scope.Scope>) =>
  it.live(name, () => Effect.scoped(effect()).pipe(Effect.provide(Processes.layer)))

/** A folder that is gone with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kit-testing-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

const environment = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
)

/** A bare JSON-RPC client: everything that comes is kept, in order. */
export interface Client {
  readonly child: Child
  readonly lines: ReadonlyArray<string>
  readonly messages: ReadonlyArray<Fields>
  readonly send: (message: Fields) => Effect.Effect<void>
  /** Sends a request and waits for its answer. */
  readonly request: (method: string, params: Fields) => Effect.Effect<Fields>
  /** Sends a request and does not wait; gives its id. */
  readonly begin: (method: string, params: Fields) => Effect.Effect<number>
  readonly answerTo: (id: number) => Effect.Effect<Fields>
  readonly until: (holds: (message: Fields) => boolean) => Effect.Effect<Fields>
  readonly updates: () => ReadonlyArray<Fields>
  /** The text of all agent chunks so far. */
  readonly text: () => string
  /** Waits until no more comes. */
  readonly closed: Effect.Effect<void>
}

const parsed = (line: string): ReadonlyArray<Fields> => {
  try {
    return [fields(JSON.parse(line))]
  } catch {
    return []
  }
}

export const connect = Effect.fnUntraced(function* (launch: Launch, cwd: string) {
  const processes = yield* Processes.Service
  const child = yield* processes.spawn({ ...launch, cwd, env: environment, ladder: { eof: "1 second", term: "300 millis" } })
  const lines: Array<string> = []
  const messages: Array<Fields> = []
  const waiting = new Set<{ readonly holds: (message: Fields) => boolean; readonly done: Deferred.Deferred<Fields> }>()
  const take = (line: string) => {
    lines.push(line)
    for (const message of parsed(line)) {
      messages.push(message)
      for (const one of waiting) {
        if (!one.holds(message)) continue
        waiting.delete(one)
        Deferred.doneUnsafe(one.done, Effect.succeed(message))
      }
    }
  }
  const pump = yield* Effect.forkScoped(
    Effect.gen(function* () {
      let rest = ""
      for (let chunk = yield* child.read; chunk !== undefined; chunk = yield* child.read) {
        const all = (rest + Buffer.from(chunk).toString("latin1")).split("\n")
        rest = all.pop() ?? ""
        all.forEach(take)
      }
      if (rest !== "") take(rest)
    }),
  )
  yield* Effect.forkScoped(Effect.repeat(child.readError, { while: (chunk) => chunk !== undefined }))
  let next = 0
  const send = (message: Fields) => Effect.ignore(child.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`))
  const until = (holds: (message: Fields) => boolean) =>
    Effect.suspend(() => {
      const before = messages.find(holds)
      if (before !== undefined) return Effect.succeed(before)
      const done = Deferred.makeUnsafe<Fields>()
      waiting.add({ holds, done })
      return Deferred.await(done)
    })
  const answerTo = (id: number) => until((message) => message.id === id && message.method === undefined)
  const begin = (method: string, params: Fields) => {
    const id = 100 + next++
    return Effect.as(send({ id, method, params }), id)
  }
  const updates = () =>
    messages.filter(({ method }) => method === "session/update").map(({ params }) => fields(fields(params).update))
  const client: Client = {
    child,
    lines,
    messages,
    send,
    begin,
    answerTo,
    until,
    updates,
    request: (method, params) => Effect.flatMap(begin(method, params), answerTo),
    text: () =>
      updates()
        .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
        .map(({ content }) => String(fields(content).text))
        .join(""),
    closed: Fiber.join(pump),
  }
  return client
})

/** A client with a scripted agent that has answered `initialize`. */
export const started = Effect.fnUntraced(function* (version: 1 | 2, mood: Mood = {}, at?: string) {
  const cwd = at ?? (yield* folder)
  const agent = inFolder(cwd, "agent", mood)
  const client = yield* connect(agent, cwd)
  yield* client.request("initialize", { protocolVersion: version })
  return { ...client, agent, cwd, text: client.text, updates: client.updates }
})

/** The same with a session, and a way to prompt it by text. */
export const opened = Effect.fnUntraced(function* (version: 1 | 2, mood: Mood = {}, at?: string) {
  const client = yield* started(version, mood, at)
  const { result } = yield* client.request("session/new", { cwd: client.cwd, mcpServers: [] })
  const sessionId = String(fields(result).sessionId)
  const prompt = (text: string) => client.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
  const beginPrompt = (text: string) => client.begin("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
  const idle = client.until(({ params }) => fields(fields(params).update).state === "idle")
  return { ...client, sessionId, prompt, beginPrompt, idle }
})
