import type { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Agents } from "../Agents.ts"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { Store } from "../Store.ts"
import { Terminal } from "../Terminal.ts"
import { kindOf, wireLine } from "../WireLine.ts"
import { type Entry, WireRecords } from "../WireRecords.ts"

/** So many records are looked through at the end of a log before all of it is. */
const nearEnd = 4096

/** The last `count` entries that are wanted, and the number of the record that comes after all of them. */
const lastOf = Effect.fnUntraced(function* (
  session: SessionStore.Session,
  id: string,
  count: number,
  wanted: (entry: Entry) => boolean,
) {
  const near = yield* Store.tried(session.subagents.tail(id, Math.max(count, nearEnd)))
  const next = (near.at(-1)?.seq ?? 0) + 1
  let shown: Array<Entry> = near.filter(wanted)
  if (shown.length < count && near.length >= nearEnd) {
    shown = []
    const all = Stream.filter(WireRecords.stored(session, id), (entry) => ("gap" in entry || entry.seq < next) && wanted(entry))
    yield* Stream.runForEach(all, (entry) =>
      Effect.sync(() => {
        shown.push(entry)
        if (shown.length > count) shown.shift()
      }),
    )
  }
  return { shown: shown.slice(Math.max(0, shown.length - count)), next }
})

/** `kit subagents log ID`: the wire log as a conversation. */
export const subagentsLog = command({
  name: "log",
  summary: "print an agent's wire log as a conversation, every frame of both directions",
  details: [
    "An arrow to the right is what Kit sent, to the left what the agent did. --json prints each record on a line of its own.",
    "--follow goes on with what is written, and ends when the process that has the session open does, or at the next record where nobody reads any more.",
  ],
  parameters: { ID: Flag.required("the agent") },
  flags: {
    ...Agents.flags,
    tail: Flag.count({ short: "n", placeholder: "N", summary: "only the last N of what would be printed" }),
    follow: Flag.toggle({ short: "f", summary: "go on as the agent works" }),
    kind: Flag.texts({ placeholder: "KIND", summary: "only these: a method, an update, result, error or note" }),
    json: Flag.toggle({ summary: "print the records as ndjson" }),
  },
  examples: [
    { line: "subagents log ID --kind session/prompt --kind agent_message_chunk", does: "only what was asked and what was said" },
    { line: "subagents log ID --follow -n 10", does: "watches an agent that another process runs" },
  ],
  run: ({ parameters: { ID: id }, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const terminal = yield* Terminal.Service
        const { session } = yield* Store.tried(Agents.find(id, flags))
        const show = flags.json ? WireRecords.jsonLine : wireLine
        const wanted = (entry: Entry) => {
          if ("gap" in entry) return flags.kind.length === 0
          return flags.kind.length === 0 ? flags.json || entry.kind === "event" : flags.kind.includes(kindOf(entry))
        }
        const { shown, next } = flags.tail === undefined ? { shown: [], next: 1 } : yield* lastOf(session, id, flags.tail, wanted)
        const later = flags.follow
          ? WireRecords.followed(session, id, next)
          : flags.tail === undefined
            ? WireRecords.stored(session, id)
            : Stream.empty
        yield* Stream.concat(Stream.fromIterable<Entry>(shown), Stream.filter(later, wanted)).pipe(
          Stream.interruptWhen(terminal.closed),
          Stream.runForEachArray((entries) => Output.lines(entries.map(show))),
        )
        return 0 as const
      }),
    ),
})
