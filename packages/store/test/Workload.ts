import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { AgentId } from "../src/AgentId.ts"
import * as AgentLaunchSpec from "../src/AgentLaunchSpec.ts"
import type { ChildRecord, Lifecycle } from "../src/ChildRecord.ts"
import { isObject, type Json } from "../src/Json.ts"
import { SessionStore } from "../src/SessionStore.ts"
import type { StoreError } from "../src/StoreError.ts"

/** Something the store was asked for (`done: false`) or has acknowledged (`done: true`). */
export type Fact =
  | { readonly of: "session" | "session deleted"; readonly done: boolean; readonly session: string }
  | { readonly of: "title"; readonly done: boolean; readonly title: string }
  | { readonly of: "agent" | "deleted"; readonly done: boolean; readonly id: string }
  | {
      readonly of: "event"
      readonly done: boolean
      readonly id: string
      readonly payload: number
      readonly level: "kernel" | "disk"
    }
  | { readonly of: "context"; readonly done: boolean; readonly id: string; readonly size: number }
  | { readonly of: "status"; readonly done: boolean; readonly id: string; readonly status: string; readonly rev: number }
  | {
      readonly of: "child"
      readonly done: boolean
      readonly id: string
      readonly lifecycle: Lifecycle
      readonly generation: number
    }
  | { readonly of: "item"; readonly done: boolean; readonly item: number }

type Draft<F = Fact> = F extends Fact ? Omit<F, "done"> : never

export type Note = (fact: Fact) => void

export const sessionId = "work"
export const prompt = "You are the one under test.\n"
export const agents = [
  "s-01a22eb1-d6f4-7c12-8c07-000000000001",
  "s-01a22eb1-d6f4-7c12-8c07-000000000002",
] as unknown as readonly [AgentId, AgentId]

const spec = AgentLaunchSpec.make({ name: "worker", harness: "acp.kit" })

const childOf = (id: string, lifecycle: Lifecycle, generation: number): ChildRecord => ({
  id,
  lifecycle,
  acp_session_id: "acp",
  harness: "acp.kit",
  name: "Agent 1",
  cwd: "/w",
  generation,
  handle_generation: generation,
  depth: 1,
})

const frame = (payload: number, size: number): string => JSON.stringify({ payload, filler: "é".repeat(size) })

/** Notes an operation before it is begun and once it was acknowledged. */
const noted = <A, E, R>(note: Note, fact: Draft, operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    note({ ...fact, done: false } as Fact)
    return Effect.tap(operation, () => Effect.sync(() => note({ ...fact, done: true } as Fact)))
  })

/** Every kind of write that the store has, each noted. `size` is the filler of events in characters. */
export const work = (note: Note, size = 4): Effect.Effect<void, StoreError, SessionStore.Service | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* SessionStore.Service
    const [first, second] = agents
    const session = yield* noted(note, { of: "session", session: sessionId }, store.create({ id: sessionId, cwd: "/w" }))
    const { subagents } = session
    let payload = 0
    const event = (id: string, level: "kernel" | "disk", filler = size) =>
      Effect.suspend(() => {
        const number = ++payload
        return noted(
          note,
          { of: "event", id, payload: number, level },
          subagents.append(id, { direction: "in", frame: frame(number, filler) }, level),
        )
      })
    const context = (id: string, length: number) =>
      noted(
        note,
        { of: "context", id, size: length },
        subagents.saveContext(id, { messages: Array.from({ length }, (_, i) => i) }),
      )
    const move = (id: string, from: "starting" | "working" | "idle", to: "working" | "idle" | "closed", rev: number) =>
      noted(note, { of: "status", id, status: to, rev }, subagents.setStatus(id, from, to))
    const checkpoint = (id: string, lifecycle: Lifecycle, generation: number) =>
      noted(note, { of: "child", id, lifecycle, generation }, session.appendChild(childOf(id, lifecycle, generation)))
    const create = (id: AgentId) => noted(note, { of: "agent", id }, subagents.create(spec, prompt, { id }))
    const item = (number: number) => noted(note, { of: "item", item: number }, session.appendItem(number, "disk"))

    yield* create(first)
    yield* event(first, "disk")
    yield* checkpoint(first, "Interrupted", 1)
    yield* move(first, "starting", "working", 2)
    yield* Effect.all([event(first, "disk"), event(first, "kernel"), event(first, "disk"), item(1)], { concurrency: "unbounded" })
    yield* context(first, 2)
    yield* checkpoint(first, "Idle", 1)
    yield* move(first, "working", "idle", 3)
    yield* create(second)
    yield* event(second, "kernel")
    for (let i = 0; i < 6; i++) yield* event(first, "disk", size * 8)
    yield* context(first, 5)
    yield* noted(note, { of: "title", title: "Renamed" }, session.rename("Renamed"))
    yield* item(2)
    yield* checkpoint(second, "Interrupted", 1)
    yield* move(second, "starting", "working", 2)
    yield* checkpoint(second, "Closed", 1)
    yield* move(second, "working", "closed", 3)
    yield* noted(note, { of: "deleted", id: second }, subagents.delete(second))
    yield* event(first, "disk")
    yield* context(first, 3)
    yield* session.flush
    const other = { of: "session", session: "other" } as const
    yield* Effect.scoped(noted(note, other, store.create({ id: "other", cwd: "/w" })))
    yield* noted(note, { of: "session deleted", session: "other" }, store.delete("other"))
  })

const last = <T>(values: ReadonlyArray<T>): T | undefined => values[values.length - 1]

/**
 * Opens the store that a crash left and says which promises were broken. `power`: the machine died, so that only what was acknowledged as on disk counts.
 */
export const check = (
  facts: ReadonlyArray<Fact>,
  power: boolean,
): Effect.Effect<ReadonlyArray<string>, never, SessionStore.Service> =>
  Effect.gen(function* () {
    const store = yield* SessionStore.Service
    const broken: Array<string> = []
    const created = facts.some((fact) => fact.of === "session" && fact.session === sessionId && fact.done)
    const opened = yield* Effect.result(
      Effect.scoped(inspect(facts, power, broken)).pipe(Effect.provideService(SessionStore.Service, store)),
    )
    if (opened._tag === "Failure") {
      const missing = opened.failure.code === "NOT_FOUND" && !created
      if (!missing) broken.push(`opening failed: ${opened.failure.message}`)
      return broken
    }
    const other = (yield* store.list().pipe(Effect.orDie)).some((row) => row.id === "other")
    const deleting = facts.find((fact) => fact.of === "session deleted")
    if (other && facts.some((fact) => fact.of === "session deleted" && fact.done)) broken.push("a deleted session came back")
    if (
      !other &&
      deleting === undefined &&
      facts.some((fact) => fact.of === "session" && fact.session === "other" && fact.done)
    ) {
      broken.push("a session is gone")
    }
    const again = yield* Effect.result(
      Effect.scoped(
        Effect.flatMap(store.openWriter(sessionId), (session) =>
          session.appendItem("after", "disk").pipe(Effect.as(session.warnings)),
        ),
      ),
    )
    if (again._tag === "Failure") broken.push(`opening again failed: ${again.failure.message}`)
    else if (again.success.some((warning) => warning.kind !== "damage_skipped")) {
      broken.push(`opening again found ${again.success.map((warning) => warning.message).join("; ")}`)
    }
    return broken
  })

const inspect = Effect.fnUntraced(function* (
  facts: ReadonlyArray<Fact>,
  power: boolean,
  broken: Array<string>,
): Effect.fn.Return<void, StoreError, SessionStore.Service | Scope.Scope> {
  const store = yield* SessionStore.Service
  const session = yield* store.openWriter(sessionId)
  const items = yield* session.items
  const children = yield* session.children
  const title = (yield* session.info).title
  for (const fact of facts) {
    if (fact.of === "item" && fact.done && !items.includes(fact.item)) broken.push(`item ${fact.item} is lost`)
    if (fact.of === "title" && fact.done && title !== fact.title) broken.push("the title is lost")
  }
  for (const id of agents) {
    const own = facts.filter((fact) => "id" in fact && fact.id === id)
    if (own.some((fact) => fact.of === "agent" && fact.done)) {
      yield* inspectAgent(session, id, own, children, power, broken)
    } else if (!own.some((fact) => fact.of === "agent")) {
      const found = (yield* session.subagents.list()).some((row) => row.id === id)
      if (found) broken.push(`${id} appeared from nowhere`)
    }
  }
  for (const row of yield* session.subagents.list()) {
    if (row.problem !== undefined) broken.push(`${row.id}: ${row.problem.message}`)
  }
  const orphans = yield* session.subagents.orphans
  if (orphans.length > 0) broken.push(`orphans after opening: ${orphans.map((orphan) => orphan.detail).join("; ")}`)
})

const inspectAgent = Effect.fnUntraced(function* (
  session: SessionStore.SessionWriter,
  id: string,
  own: ReadonlyArray<Fact>,
  children: ReadonlyArray<ChildRecord>,
  power: boolean,
  broken: Array<string>,
): Effect.fn.Return<void, StoreError> {
  const deleting = own.filter((fact) => fact.of === "deleted")
  const result = yield* Effect.result(session.subagents.load(id))
  if (result._tag === "Failure") {
    if (!(deleting.length > 0 && result.failure.code === "NOT_FOUND")) broken.push(`${id}: ${result.failure.message}`)
    return
  }
  if (deleting.some((fact) => fact.done)) return void broken.push(`${id} came back after its deletion`)
  const { meta, prompt: found, context } = result.success
  if (found !== prompt) broken.push(`${id}: the prompt changed`)

  const sizes = own.filter((fact) => fact.of === "context")
  const saved = last(sizes.filter((fact) => fact.done))
  const allowed = sizes.slice(
    saved === undefined ? 0 : sizes.indexOf(sizes.filter((fact) => !fact.done && fact.size === saved.size)[0] as never),
  )
  const size = Array.isArray(context.messages) ? context.messages.length : 0
  if (!allowed.some((fact) => fact.size === size) && !(saved === undefined && size === 0))
    broken.push(`${id}: context of ${size} was never the last`)

  const seen: Array<number> = []
  let previous = 0
  let gap = false
  yield* Stream.runForEach(session.subagents.replay(id), (element) =>
    Effect.sync(() => {
      if ("gap" in element) gap = true
      else {
        if (element.seq <= previous) broken.push(`${id}: record ${element.seq} after ${previous}`)
        previous = element.seq
        const payload = payloadOf(element.body)
        if (payload !== undefined) seen.push(payload)
      }
    }),
  )
  for (const fact of own) {
    if (fact.of === "event" && fact.done && (fact.level === "disk" || !power) && !seen.includes(fact.payload)) {
      broken.push(`${id}: event ${fact.payload} is lost`)
    }
  }
  if (gap && !power) broken.push(`${id}: a kill left a gap`)

  const rev = last(own.filter((fact) => fact.of === "status").filter((fact) => fact.done))?.rev
  if (rev !== undefined && meta.rev < rev) broken.push(`${id}: metadata went back to revision ${meta.rev}`)

  const checkpoints = own.filter((fact) => fact.of === "child")
  const kept = last(checkpoints.filter((fact) => fact.done))
  const child = children.find((record) => record.id === id)
  if (kept !== undefined) {
    const position = (one: { readonly lifecycle: string; readonly generation: number }): number =>
      checkpoints.findLastIndex((fact) => fact.lifecycle === one.lifecycle && fact.generation === one.generation)
    if (child === undefined || position(child) < position(kept)) broken.push(`${id}: checkpoint ${kept.lifecycle} is lost`)
  }
  const decided = { Idle: "idle", Interrupted: "interrupted", Closed: "closed" }[child?.lifecycle ?? "Interrupted"]
  if (meta.status !== decided) broken.push(`${id}: status ${meta.status} where the transcript says ${decided}`)
})

const payloadOf = (body: Json): number | undefined => {
  const frame = isObject(body) ? body.frame : undefined
  const payload = isObject(frame) ? frame.payload : undefined
  return typeof payload === "number" ? payload : undefined
}
