import type { JsonObject } from "@acp-kit/runlet/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Directories } from "../Directories.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

/** A session as `--json` prints it. */
export const sessionJson = ({ id, info, updated, problem }: SessionStore.SessionSummary): JsonObject => ({
  id,
  title: info?.title ?? null,
  cwd: info?.cwd ?? null,
  origin: info?.origin ?? null,
  created_at: info?.created_at ?? null,
  updated_at: DateTime.formatIso(DateTime.makeUnsafe(updated)),
  ...(problem === undefined ? {} : { problem: { code: problem.code, message: problem.message } }),
})

const row = (session: SessionStore.SessionSummary, showsRoot: boolean): ReadonlyArray<string> => [
  DateTime.formatIso(DateTime.makeUnsafe(session.updated)).slice(0, 16).replace("T", " "),
  printable(session.id),
  ...(showsRoot ? [printable(session.info?.cwd ?? "?")] : []),
  session.problem === undefined ? printable(session.info?.title ?? "—") : `problem: ${printable(session.problem.message)}`,
]

/** `kit sessions list`: newest first. */
export const sessionsList = command({
  name: "list",
  summary: "list the sessions of this directory, newest first",
  flags: {
    root: Directories.flags.root,
    all: Flag.toggle({ summary: "those of every directory" }),
    json: Flag.toggle({ summary: 'print {"sessions":[{id, title, cwd, origin, created_at, updated_at}]}' }),
  },
  exclusive: [["root", "all"]],
  run: ({ flags }) =>
    Store.use(
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const cwd = yield* Directories.working(flags.root ?? ".")
        const found = yield* Store.tried(store.list(flags.all ? {} : { cwd }))
        if (flags.json) yield* Output.value({ sessions: found.map(sessionJson) }, true)
        else if (found.length > 0) {
          const head = ["UPDATED (UTC)", "ID", ...(flags.all ? ["DIRECTORY"] : []), "TITLE"]
          yield* Output.lines(columns([head, ...found.map((session) => row(session, flags.all))]))
        }
        return 0 as const
      }),
    ),
})
