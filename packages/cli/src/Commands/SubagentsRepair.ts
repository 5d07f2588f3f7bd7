import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { Agents } from "../Agents.ts"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { LongWork } from "../LongWork.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

/** `kit subagents repair ID`. */
export const subagentsRepair = command({
  name: "repair",
  summary: "mend what verify found: damage is set aside in a copy, never dropped",
  details: [
    "It only appends, rebuilds from the log, or copies damage into .quarantine beside the file; what cannot be read is skipped from then on, and what cannot be brought back is an error and makes the exit 1. The session must be open nowhere.",
  ],
  parameters: { ID: Flag.required("the agent") },
  flags: { ...Agents.flags, json: Flag.toggle({ summary: 'print {"findings":[{path, severity, message}]}' }) },
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const repaired = Effect.gen(function* () {
          const { session } = yield* Agents.find(parameters.ID, flags)
          const writer = yield* store.openWriter(session.id)
          return yield* writer.subagents.repair(parameters.ID)
        })
        const findings = yield* repaired.pipe(
          Effect.scoped,
          Store.tried,
          LongWork.during(() => `repairing ${parameters.ID}`),
        )
        if (flags.json) {
          yield* Output.value({ findings: findings.map(({ path, severity, message }) => ({ path, severity, message })) }, true)
        } else if (findings.length === 0) yield* Output.lines(["nothing to mend"])
        else {
          yield* Output.lines(
            columns(findings.map(({ path, severity, message }) => [severity, printable(path), printable(message)])),
          )
        }
        return findings.some(({ severity }) => severity === "error") ? (1 as const) : (0 as const)
      }),
    ),
})
