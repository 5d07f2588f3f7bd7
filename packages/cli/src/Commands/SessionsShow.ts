import { CompactJson } from "@acp-kit/agent/CompactJson"
import type { JsonObject } from "@acp-kit/runlet/Host"
import type { ChildRecord } from "@acp-kit/store/ChildRecord"
import { describeGap } from "@acp-kit/store/LogRecovery"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { clip, printable } from "../Printable.ts"
import { RunRecord } from "../RunRecord.ts"
import { Store } from "../Store.ts"

/** As `kit subagents list` writes it. */
const statusOf = ({ lifecycle }: ChildRecord): string => lifecycle.toLowerCase()

const childJson = (child: ChildRecord): JsonObject => ({
  id: child.id,
  name: child.name,
  harness: child.harness,
  lifecycle: statusOf(child),
  generation: child.handle_generation,
  cwd: child.cwd,
})

const runJson = ({ id, began, path, source, inputs, status, outcome }: RunRecord.Run): JsonObject => ({
  id,
  began_at: DateTime.formatIso(DateTime.makeUnsafe(began)),
  path,
  source,
  inputs,
  status,
  ...outcome,
})

/** The file of a program, else the first of its lines. */
const nameOf = ({ path, source }: RunRecord.Run): string => {
  const first = source.split("\n").find((line) => line.trim() !== "") ?? ""
  return clip(printable(path === "-e" || path === "standard input" ? `${path} ${first.trim()}` : path), 48)
}

const cameTo = ({ outcome: { value, preview, error } }: RunRecord.Run): string => {
  if (error !== undefined) return CompactJson.encode(error)
  if (typeof preview === "string") return preview
  return value === undefined ? "" : CompactJson.encode(value)
}

const runRow = (run: RunRecord.Run): ReadonlyArray<string> => [
  "",
  DateTime.formatIso(DateTime.makeUnsafe(run.began)).slice(0, 16).replace("T", " "),
  nameOf(run),
  run.status,
  clip(printable(cameTo(run)), 60),
]

const describe = Effect.fnUntraced(function* (id: string) {
  const store = yield* SessionStore.Service
  const session = yield* store.openReader(id)
  const info = yield* session.info
  const { updated, problem } = yield* session.summary
  const items = yield* session.items
  const children = yield* session.children
  const runs = yield* RunRecord.of(session)
  const holder = yield* store.holder(id)
  const warnings: Array<string> = problem === undefined ? [] : [problem.message]
  yield* Stream.runForEach(session.records, (record) =>
    Effect.sync(() => (record.kind === "gap" ? warnings.push(`transcript: ${describeGap(record.gap)}`) : undefined)),
  )
  const updatedAt = DateTime.formatIso(DateTime.makeUnsafe(updated))
  return { info, updatedAt, items: items.length, runs, children, holder, warnings }
})

type Described = Effect.Success<ReturnType<typeof describe>>

const json = ({ info, updatedAt, items, runs, children, holder, warnings }: Described): JsonObject => ({
  id: info.id,
  title: info.title ?? null,
  cwd: info.cwd,
  additional_directories: info.additional_directories,
  origin: info.origin,
  created_at: info.created_at,
  updated_at: updatedAt,
  items,
  runs: runs.map(runJson),
  children: children.map(childJson),
  writer: holder === undefined ? null : { ...holder },
  warnings,
})

const lines = ({ info, updatedAt, items, runs, children, holder, warnings }: Described): ReadonlyArray<string> => [
  ...columns([
    ["session", info.id],
    ["title", printable(info.title ?? "—")],
    ["directory", printable(info.cwd)],
    ...info.additional_directories.map((directory) => ["", printable(directory)]),
    ["created", info.created_at],
    ["updated", updatedAt],
    ["items", String(items)],
    ["writer", holder === undefined ? "nobody" : `process ${holder.pid ?? "unknown"} since ${holder.since ?? "unknown"}`],
    ...warnings.map((warning) => ["warning", warning]),
  ]),
  ...(runs.length === 0 ? [] : ["", "runs (UTC)"]),
  ...columns(runs.map(runRow)),
  ...(children.length === 0 ? [] : ["", "children"]),
  ...columns(
    children.map((child) => [
      "",
      child.id,
      printable(child.name),
      child.harness,
      statusOf(child),
      `generation ${child.handle_generation}`,
    ]),
  ),
]

/** `kit sessions show ID`. */
export const sessionsShow = command({
  name: "show",
  summary: "show a session: what was run in it, its directories, its children and who writes it",
  parameters: { ID: Flag.required("the session") },
  flags: { json: Flag.toggle({ summary: "print it as one JSON object" }) },
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const described = yield* Store.tried(describe(parameters.ID))
        yield* flags.json ? Output.value(json(described), true) : Output.lines(lines(described))
        return 0 as const
      }),
    ),
})
