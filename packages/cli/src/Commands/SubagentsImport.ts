import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Directories } from "../Directories.ts"
import { Flag } from "../Flag.ts"
import { LongWork } from "../LongWork.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

const skippedLines = (count: number): string =>
  count === 0 ? "" : `${count} ${count === 1 ? "line" : "lines"} could not be read and ${count === 1 ? "is" : "are"} left out`

/** `kit subagents import DIR`. */
export const subagentsImport = command({
  name: "import",
  summary: "make agents of what Kimi CLI recorded: an agent's directory, or a session's",
  details: [
    "System prompt, messages and wire records are taken over under ids of Kit's own; the source is only read. Each agent is made whole or not at all, and is a record to look at: it is closed, and no handle.",
  ],
  parameters: { DIR: Flag.required("~/.kimi/sessions/…/SESSION, or …/SESSION/subagents/AGENT") },
  flags: {
    session: Flag.text({ placeholder: "ID", summary: "the session that gets them", fallback: "a new one" }),
    root: Directories.flags.root,
    json: Flag.toggle({ summary: 'print {"session", "subagents":[{id, from, skipped}]}' }),
  },
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const from = yield* Directories.existing("directory", parameters.DIR)
        const cwd = yield* Directories.working(flags.root ?? ".")
        const made = flags.session === undefined
        const session = flags.session ?? (yield* Store.tried(newSession(cwd)))
        const imported = yield* Store.tried(store.importKimi(session, from)).pipe(
          Effect.onError(() => (made ? Effect.ignore(store.delete(session)) : Effect.void)),
          LongWork.during(() => `importing ${from}`),
        )
        if (flags.json) {
          yield* Output.value({ session, subagents: imported.map(({ id, from, skipped }) => ({ id, from, skipped })) }, true)
        } else yield* Output.lines(columns(imported.map(({ id, from, skipped }) => [id, printable(from), skippedLines(skipped)])))
        return 0 as const
      }),
    ),
})

const newSession = (cwd: string) =>
  Effect.scoped(
    Effect.flatMap(SessionStore.Service, (store) =>
      Effect.map(store.create({ cwd, title: "imported from Kimi CLI" }), ({ id }) => id as string),
    ),
  )
