import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { command } from "../Command.ts"
import { failed } from "../CommandFailed.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { Store } from "../Store.ts"

const json = Flag.toggle({ summary: "print what was done as JSON" })

/** `kit sessions rename ID TITLE`. */
export const sessionsRename = command({
  name: "rename",
  summary: "give a session a title, or take it away",
  parameters: { ID: Flag.required("the session"), TITLE: Flag.optional("at most 100 characters") },
  flags: { clear: Flag.toggle({ summary: "take the title away" }), json },
  exclusive: [["TITLE", "clear"]],
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const { ID, TITLE } = parameters
        if (TITLE === undefined && !flags.clear) return yield* failed(2, "USAGE", "no title; give a TITLE, or --clear")
        const store = yield* SessionStore.Service
        const { title } = yield* Store.tried(store.rename(ID, TITLE))
        if (flags.json) yield* Output.value({ id: ID, title: title ?? null }, true)
        return 0 as const
      }),
    ),
})

/** `kit sessions delete ID`. */
export const sessionsDelete = command({
  name: "delete",
  summary: "delete a session with its agents and their logs; one that is open refuses",
  parameters: { ID: Flag.required("the session") },
  flags: { json },
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        yield* Store.tried(store.delete(parameters.ID))
        if (flags.json) yield* Output.value({ id: parameters.ID, deleted: true }, true)
        return 0 as const
      }),
    ),
})
