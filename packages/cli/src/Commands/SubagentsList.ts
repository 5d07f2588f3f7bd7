import type { JsonObject } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import { Agents } from "../Agents.ts"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

const json = ({ session, summary: { id, meta, problem }, record }: Agents.Agent): JsonObject => ({
  id,
  session,
  name: record?.name ?? null,
  status: meta?.status ?? null,
  generation: record?.handle_generation ?? null,
  harness: meta?.spec.harness ?? record?.harness ?? null,
  created_at: meta?.created_at ?? null,
  updated_at: meta?.updated_at ?? null,
  ...(problem === undefined ? {} : { problem: { code: problem.code, message: problem.message } }),
})

const row = ({ session, summary: { id, meta, problem }, record }: Agents.Agent): ReadonlyArray<string> => [
  printable(id),
  printable(record?.name ?? "—"),
  problem === undefined ? printable(meta?.status ?? "?") : "damaged",
  String(record?.handle_generation ?? "—"),
  printable(meta?.spec.harness ?? record?.harness ?? "—"),
  (meta?.updated_at ?? "").slice(0, 16).replace("T", " "),
  session,
]

/** `kit subagents list`: what is on disk, live or not. */
export const subagentsList = command({
  name: "list",
  summary: "list the agents that were started, newest first",
  flags: {
    ...Agents.flags,
    json: Flag.toggle({
      summary: 'print {"subagents":[{id, session, name, status, generation, harness, created_at, updated_at}]}',
    }),
  },
  run: ({ flags }) =>
    Store.use(
      Effect.gen(function* () {
        const found = yield* Store.tried(Agents.list(flags))
        if (flags.json) yield* Output.value({ subagents: found.map(json) }, true)
        else if (found.length > 0) {
          const head = ["ID", "NAME", "STATUS", "GENERATION", "HARNESS", "UPDATED (UTC)", "SESSION"]
          yield* Output.lines(columns([head, ...found.map(row)]))
        }
        return 0 as const
      }),
    ),
})
