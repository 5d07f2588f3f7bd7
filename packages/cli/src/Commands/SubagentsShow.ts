import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import { Agents } from "../Agents.ts"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

const describe = Effect.fnUntraced(function* (
  id: string,
  where: { readonly session: string | undefined; readonly root: string | undefined },
) {
  const { session, record } = yield* Agents.find(id, where)
  return { session: session.id, record, loaded: yield* session.subagents.load(id) }
})

type Described = Effect.Success<ReturnType<typeof describe>>

const json = ({ session, record, loaded }: Described): JsonObject => ({
  id: loaded.meta.agent_id,
  session,
  name: record?.name ?? null,
  generation: record?.handle_generation ?? null,
  meta: JSON.parse(JSON.stringify(loaded.meta)) as Json,
  prompt: loaded.prompt,
  context: loaded.context,
  warnings: loaded.warnings.map(({ kind, path, message }) => ({ kind, path, message })),
})

const lines = ({ session, record, loaded: { meta, prompt, context, warnings } }: Described): ReadonlyArray<string> => {
  const { messages, last_output: output } = context
  const said = typeof output === "string" ? output : output === undefined ? "—" : JSON.stringify(output)
  return columns([
    ["agent", meta.agent_id],
    ["session", session],
    ["name", printable(record?.name ?? "—")],
    ["status", printable(meta.status + (meta.status_reason === undefined ? "" : `: ${meta.status_reason}`))],
    ["generation", String(record?.handle_generation ?? "—")],
    ["harness", printable(meta.spec.harness ?? "—")],
    ["model", printable(meta.spec.model ?? "—")],
    ["directory", printable(meta.spec.cwd ?? "—")],
    ["created", meta.created_at],
    ["updated", meta.updated_at],
    ["system prompt", prompt === "" ? "none" : `${meta.prompt.bytes} bytes`],
    ["messages", Array.isArray(messages) ? String(messages.length) : "0"],
    ["last output", printable(said)],
    ...warnings.map((warning) => ["warning", printable(warning.message)]),
  ])
}

/** `kit subagents show ID`. */
export const subagentsShow = command({
  name: "show",
  summary: "show an agent: from what it was launched, how far it came, what it said last",
  parameters: { ID: Flag.required("the agent") },
  flags: { ...Agents.flags, json: Flag.toggle({ summary: "print its files as one JSON object" }) },
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const described = yield* Store.tried(describe(parameters.ID, flags))
        yield* flags.json ? Output.value(json(described), true) : Output.lines(lines(described))
        return 0 as const
      }),
    ),
})
