import type { JsonObject } from "@acp-kit/runlet/Host"
import type { ChildRecord } from "@acp-kit/store/ChildRecord"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

const childJson = (child: ChildRecord): JsonObject => ({
  id: child.id,
  name: child.name,
  harness: child.harness,
  lifecycle: child.lifecycle,
  generation: child.handle_generation,
  cwd: child.cwd,
})

const describe = Effect.fnUntraced(function* (id: string) {
  const store = yield* SessionStore.Service
  const session = yield* store.openReader(id)
  const info = yield* session.info
  const items = yield* session.items
  const children = yield* session.children
  const holder = yield* store.holder(id)
  return { info, items: items.length, children, holder, warnings: session.warnings }
})

type Described = Effect.Success<ReturnType<typeof describe>>

const json = ({ info, items, children, holder, warnings }: Described): JsonObject => ({
  id: info.id,
  title: info.title ?? null,
  cwd: info.cwd,
  additional_directories: info.additional_directories,
  origin: info.origin,
  created_at: info.created_at,
  updated_at: info.updated_at,
  items,
  children: children.map(childJson),
  writer: holder === undefined ? null : { ...holder },
  warnings: warnings.map(({ kind, path, message }) => ({ kind, path, message })),
})

const lines = ({ info, items, children, holder, warnings }: Described): ReadonlyArray<string> => [
  ...columns([
    ["session", info.id],
    ["title", printable(info.title ?? "—")],
    ["directory", printable(info.cwd)],
    ...info.additional_directories.map((directory) => ["", printable(directory)]),
    ["created", info.created_at],
    ["updated", info.updated_at],
    ["items", String(items)],
    ["writer", holder === undefined ? "nobody" : `process ${holder.pid ?? "unknown"} since ${holder.since ?? "unknown"}`],
    ...warnings.map((warning) => ["warning", printable(warning.message)]),
  ]),
  ...(children.length === 0 ? [] : ["", "children"]),
  ...columns(
    children.map((child) => [
      "",
      child.id,
      printable(child.name),
      child.harness,
      child.lifecycle,
      `generation ${child.handle_generation}`,
    ]),
  ),
]

/** `kit sessions show ID`. */
export const sessionsShow = command({
  name: "show",
  summary: "show a session: its directories, its children and who writes it",
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
