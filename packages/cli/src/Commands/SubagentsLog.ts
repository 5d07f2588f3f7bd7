import { stringify } from "@acp-kit/store/Json"
import type { LogGap, LogRecord } from "@acp-kit/store/Record"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Agents } from "../Agents.ts"
import { command } from "../Command.ts"
import type { CommandFailed } from "../CommandFailed.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { Store } from "../Store.ts"
import { kindOf, wireLine } from "../WireLine.ts"

const jsonLine = (record: LogRecord | LogGap): string =>
  "gap" in record
    ? stringify({ gap: true, firstSeq: record.firstSeq ?? null, lastSeq: record.lastSeq ?? null })
    : stringify({ seq: record.seq, time: record.time, kind: record.kind, body: record.body })

/** `kit subagents log ID`: the wire log as a conversation. */
export const subagentsLog = command({
  name: "log",
  summary: "print an agent's wire log as a conversation, every frame of both directions",
  details: [
    "An arrow to the right is what Kit sent, to the left what the agent did. --json prints each record on a line of its own.",
  ],
  parameters: { ID: Flag.required("the agent") },
  flags: {
    ...Agents.flags,
    tail: Flag.count({ short: "n", placeholder: "N", summary: "only the last N records" }),
    kind: Flag.texts({ placeholder: "KIND", summary: "only these: a method, an update, result, error or note" }),
    json: Flag.toggle({ summary: "print the records as ndjson" }),
  },
  examples: [
    { line: "subagents log ID --kind session/prompt --kind agent_message_chunk", does: "only what was asked and what was said" },
  ],
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const { session } = yield* Store.tried(Agents.find(parameters.ID, flags))
        const show = flags.json ? jsonLine : wireLine
        const wanted = (record: LogRecord | LogGap) => {
          if ("gap" in record) return flags.kind.length === 0
          return flags.kind.length === 0 ? flags.json || record.kind === "event" : flags.kind.includes(kindOf(record))
        }
        const all: Stream.Stream<LogRecord | LogGap, CommandFailed> =
          flags.tail === undefined
            ? Stream.mapError(session.subagents.replay(parameters.ID), Store.storeFailed)
            : Stream.fromIterable(yield* Store.tried(session.subagents.tail(parameters.ID, flags.tail)))
        yield* Stream.runForEach(Stream.filter(all, wanted), (record) => Output.lines([show(record)]))
        return 0 as const
      }),
    ),
})
