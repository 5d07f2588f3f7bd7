import { SessionStore } from "@acp-kit/store/SessionStore"
import type { SubagentStore } from "@acp-kit/store/SubagentStore"
import * as Effect from "effect/Effect"
import { Agents } from "../Agents.ts"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { LongWork } from "../LongWork.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

interface Checked {
  readonly id: string
  readonly findings: ReadonlyArray<SubagentStore.Finding>
}

const verify = Effect.fnUntraced(function* (
  id: string | undefined,
  where: { readonly session: string | undefined; readonly root: string | undefined },
) {
  const store = yield* SessionStore.Service
  if (id !== undefined) {
    const { session } = yield* Agents.find(id, where)
    const verifying = session.subagents.verify(id)
    return [{ id, findings: yield* LongWork.during(() => `verifying ${id}`)(verifying) }]
  }
  const agents = yield* Agents.list(where)
  let done = 0
  return yield* Effect.forEach(agents, ({ session, summary: { id } }) =>
    Effect.flatMap(store.openReader(session), ({ subagents }) => subagents.verify(id)).pipe(
      Effect.catch(({ message }) => Effect.succeed([{ path: id, severity: "error", message } as const])),
      Effect.map((findings): Checked => {
        done++
        return { id, findings }
      }),
    ),
  ).pipe(LongWork.during(() => `verified ${done} of ${agents.length}`))
})

const row = (id: string, { path, severity, message }: SubagentStore.Finding): ReadonlyArray<string> => [
  severity,
  id,
  printable(path.slice(path.lastIndexOf("/") + 1)),
  printable(message),
]

/** `kit subagents verify [ID]`. */
export const subagentsVerify = command({
  name: "verify",
  summary: "read every byte of an agent's files and tell what is wrong with which",
  details: ["Nothing is changed. Exit 1 where something cannot be trusted."],
  parameters: { ID: Flag.optional("the agent; all of them when left out") },
  flags: { ...Agents.flags, json: Flag.toggle({ summary: 'print {"subagents":[{id, findings:[{path, severity, message}]}]}' }) },
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const checked = yield* Store.tried(verify(parameters.ID, flags))
        const findings = checked.flatMap((agent) => agent.findings)
        if (flags.json) {
          const rows = checked.map(({ id, findings }) => ({
            id,
            findings: findings.map(({ path, severity, message }) => ({ path, severity, message })),
          }))
          yield* Output.value({ subagents: rows }, true)
        } else {
          yield* Output.lines(columns(checked.flatMap(({ id, findings }) => findings.map((finding) => row(id, finding)))))
        }
        return findings.some(({ severity }) => severity === "error") ? (1 as const) : (0 as const)
      }),
    ),
})
