import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

/** `kit subagents orphans`. */
export const subagentsOrphans = command({
  name: "orphans",
  summary: "list directories that no session vouches for; nothing is adopted and nothing dropped",
  flags: { json: Flag.toggle({ summary: 'print {"orphans":[{session, id, path, why, detail}]}' }) },
  run: ({ flags }) =>
    Store.use(
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const found = yield* Store.tried(store.orphans)
        if (flags.json)
          yield* Output.value(
            { orphans: found.map(({ session, id, path, why, detail }) => ({ session, id, path, why, detail })) },
            true,
          )
        else yield* Output.lines(columns(found.map(({ path, why, detail }) => [why, printable(path), printable(detail)])))
        return 0 as const
      }),
    ),
})
