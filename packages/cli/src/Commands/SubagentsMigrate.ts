import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { Agents } from "../Agents.ts"
import { command } from "../Command.ts"
import { failed } from "../CommandFailed.ts"
import { Flag } from "../Flag.ts"
import { LongWork } from "../LongWork.ts"
import { Output } from "../Output.ts"
import { Store } from "../Store.ts"

/** `kit subagents migrate ID --to SESSION`. */
export const subagentsMigrate = command({
  name: "migrate",
  summary: "move an agent with all its files to another session, or copy it there",
  details: [
    "Neither session may be open. A move keeps the id, and the other session goes on with the agent where this one stopped; a copy has a new id and is a record to look at: it is closed, and no handle. A move that was cut short is finished by the same call.",
  ],
  parameters: { ID: Flag.required("the agent") },
  flags: {
    to: Flag.text({ placeholder: "ID", summary: "the session that gets it; required" }),
    session: Flag.text({ placeholder: "ID", summary: "the session that has it", fallback: "the one of the directory that does" }),
    root: Agents.flags.root,
    copy: Flag.toggle({ summary: "leave the agent where it is" }),
    json: Flag.toggle({ summary: "print {id, from, to, mode}" }),
  },
  examples: [{ line: "subagents migrate ID --to SESSION", does: "gives an agent to another session" }],
  run: ({ parameters: { ID: id }, flags: { to, session: owner, root, copy, json } }) =>
    Store.use(
      Effect.gen(function* () {
        if (to === undefined) return yield* failed(2, "USAGE", "name the session that gets the agent: --to ID")
        const store = yield* SessionStore.Service
        const target = yield* Store.tried(store.openReader(to))
        const elsewhere = Effect.map(
          Agents.find(id, { session: undefined, root, except: to }),
          ({ session }): string => session.id,
        ).pipe(
          Effect.catchTag("StoreError", (error) =>
            Effect.flatMap(target.subagents.list(), (all) =>
              error.code === "NOT_FOUND" && all.some((row) => row.id === id) ? Effect.succeed(to) : Effect.fail(error),
            ),
          ),
        )
        const from = owner ?? (yield* Store.tried(elsewhere))
        if (from === to) return yield* failed(2, "INVALID", `subagent ${id} is in session ${to} already`)
        const mode = copy ? "copy" : "move"
        const migrating = Store.tried(store.migrate(id, { from, to, mode }))
        const there = yield* LongWork.during(() => `${copy ? "copying" : "moving"} ${id}`)(migrating)
        if (json) yield* Output.value({ id: there, from, to, mode }, true)
        else yield* Output.lines([there])
        return 0 as const
      }),
    ),
})
