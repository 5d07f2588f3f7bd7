import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { Agents } from "../Agents.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { Store } from "../Store.ts"

/** `kit subagents delete ID`. */
export const subagentsDelete = command({
  name: "delete",
  summary: "delete an agent's directory and all in it; one that is at work refuses",
  parameters: { ID: Flag.required("the agent") },
  flags: { ...Agents.flags, json: Flag.toggle({ summary: "print what was done as JSON" }) },
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const removed = Effect.gen(function* () {
          const { session } = yield* Agents.find(parameters.ID, flags)
          const writer = yield* store.openWriter(session.id)
          yield* writer.subagents.delete(parameters.ID)
          return session.id
        })
        const session = yield* Store.tried(Effect.scoped(removed))
        if (flags.json) yield* Output.value({ id: parameters.ID, session, deleted: true }, true)
        return 0 as const
      }),
    ),
})
