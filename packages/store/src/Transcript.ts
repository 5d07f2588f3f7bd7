import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { is as isAgentId } from "./AgentId.ts"
import type { ChildRecord } from "./ChildRecord.ts"
import type { Disk } from "./Disk.ts"
import { isObject, type Json, type JsonObject } from "./Json.ts"
import { isGap } from "./LogDecoder.ts"
import type { LogName } from "./LogFiles.ts"
import * as LogReader from "./LogReader.ts"
import type { LogGap, LogRecord } from "./Record.ts"
import type { TranscriptRecord } from "./Session.ts"
import { Invalid, of, type StoreError } from "./StoreError.ts"

/** Schema versions of the records: a reader that knows only items refuses to write where child records stand (S107). */
export const itemVersion = 1
export const childVersion = 2
/** The newest record version that this Kit appends beside. */
export const supported = 2

/** A log's line as a transcript record; lines of the log itself, what breaks the rules of its kind, and kinds of another version, are `other`. */
export const decode = (element: LogRecord | LogGap): TranscriptRecord => {
  if (isGap(element)) return { kind: "gap", gap: element }
  const { seq, time, kind, body, version } = element
  if (version <= supported) {
    if (kind === "item") return { kind, seq, time, item: body }
    if (kind === "replacement" && Array.isArray(body)) return { kind, seq, time, items: body }
    if (kind === "child" && isObject(body) && childProblem(body) === undefined) {
      return { kind, seq, time, child: body as ChildRecord }
    }
  }
  return { kind: "other", seq, time, record: element }
}

/** Every record in order. */
export const records = (name: LogName): Stream.Stream<TranscriptRecord, StoreError, Disk.Service> =>
  Stream.map(LogReader.replay(name), decode)

/** The records of the sealed files alone; the active one is read when the log is opened. */
export const sealed = (name: LogName): Stream.Stream<TranscriptRecord, StoreError, Disk.Service> =>
  Stream.map(LogReader.replaySealed(name), decode)

/** Takes records in order; `items` are those of the last replacement and those after it. */
export const gather = () => {
  let current: Array<Json> = []
  return {
    take: (record: TranscriptRecord): void => {
      if (record.kind === "item") current.push(record.item)
      else if (record.kind === "replacement") current = [...record.items]
    },
    items: (): ReadonlyArray<Json> => current,
  }
}

/** The items as they stand. */
export const items = (name: LogName): Effect.Effect<ReadonlyArray<Json>, StoreError, Disk.Service> =>
  Effect.suspend(() => {
    const gathered = gather()
    const all = Stream.runForEach(records(name), (record) => Effect.sync(() => gathered.take(record)))
    return Effect.map(all, gathered.items)
  })

/** The last record of each child, in the order of their first. */
export const children = (name: LogName): Effect.Effect<Map<string, ChildRecord>, StoreError, Disk.Service> =>
  Effect.suspend(() => {
    const last = new Map<string, ChildRecord>()
    return records(name).pipe(
      Stream.runForEach((record) => Effect.sync(() => void (record.kind === "child" && last.set(record.child.id, record.child)))),
      Effect.map(() => last),
    )
  })

const lifecycles: ReadonlyArray<string> = ["Interrupted", "Idle", "Closed"]
const isPositive = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1
const isFilled = (value: unknown): boolean => typeof value === "string" && value.length > 0

/** Which rule of a child record an object breaks, `undefined` where it is one. */
const childProblem = (record: JsonObject): string | undefined => {
  if (typeof record.id !== "string" || !isAgentId(record.id)) return "its id is no subagent id"
  if (!lifecycles.includes(String(record.lifecycle))) return `its lifecycle is none of ${lifecycles.join(", ")}`
  if (!isFilled(record.acp_session_id)) return "it names no ACP session"
  if (!isFilled(record.harness) || !isFilled(record.name)) return "it names no harness or has no name"
  if (typeof record.cwd !== "string" || !/^(\/|[A-Za-z]:[\\/])/.test(record.cwd)) return "its cwd is not absolute"
  const { depth, generation, handle_generation: held, lifecycle } = record
  if (!isPositive(depth) || !isPositive(generation) || !isPositive(held)) return "a depth and generations are integers from 1"
  if (held > generation) return "its handle is ahead of its generation"
  return lifecycle === "Idle" && held !== generation ? "an idle handle has the last generation" : undefined
}

/** Fails with `Invalid` where a child record breaks one of its rules. */
export const checkChild = (record: ChildRecord): Effect.Effect<void, StoreError> => {
  const why = childProblem(record)
  return why === undefined ? Effect.void : Effect.fail(of(new Invalid({ what: "child record", why })))
}

export * as Transcript from "./Transcript.ts"
