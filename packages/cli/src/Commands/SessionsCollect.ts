import type { JsonObject } from "@acp-kit/runlet/Host"
import type { Collected } from "@acp-kit/store/Collection"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { failed } from "../CommandFailed.ts"
import { Flag } from "../Flag.ts"
import { LongWork } from "../LongWork.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { size } from "../Size.ts"
import { Store } from "../Store.ts"

const json = ({ kind, session, id, bytes, why, problem }: Collected): JsonObject => ({
  kind,
  session,
  id,
  bytes,
  why,
  ...(problem === undefined ? {} : { problem: { code: problem.code, message: problem.message } }),
})

const row = ({ kind, id, bytes, why, problem }: Collected): ReadonlyArray<string> => [
  kind,
  printable(id),
  size(bytes),
  problem === undefined ? why : `stays: ${printable(problem.message)}`,
]

const total = (found: ReadonlyArray<Collected>): number =>
  found.reduce((sum, { bytes, problem }) => (problem === undefined ? sum + bytes : sum), 0)

const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? "" : "s"}`

/** `12 sessions and 1 subagent, 3.4 MB`. */
const summary = (found: ReadonlyArray<Collected>): string => {
  const going = found.filter(({ problem }) => problem === undefined)
  const sessions = going.filter(({ kind }) => kind === "session").length
  const agents = going.length - sessions
  return `${counted(sessions, "session")} and ${counted(agents, "subagent")}, ${size(total(found))}`
}

/** `kit sessions collect`. */
export const sessionsCollect = command({
  name: "collect",
  summary: "tell what is old or too much, of every directory, and remove it with --delete",
  details: [
    "Without --delete nothing is removed. An age takes the sessions that nobody changed since, and in those that stay the agents that were closed or failed before. A size takes the oldest sessions until the rest is no larger.",
    "What is open, what cannot be read and what changes meanwhile stays.",
  ],
  flags: {
    "older-than": Flag.count({ placeholder: "DAYS", summary: "what was last changed longer ago" }),
    "max-bytes": Flag.count({ placeholder: "N", summary: "the oldest, until all that stay are no larger" }),
    keep: Flag.count({ placeholder: "N", summary: "the youngest sessions that stay in any case", fallback: "1" }),
    delete: Flag.toggle({ summary: "remove it; there is no way back" }),
    json: Flag.toggle({ summary: 'print {"deleted", "bytes", "collected":[{kind, session, id, bytes, why}]}' }),
  },
  examples: [
    { line: "sessions collect --older-than 90", does: "what nobody changed for three months, and its size" },
    { line: "sessions collect --max-bytes 2000000000 --delete", does: "removes the oldest until 2 GB are left" },
  ],
  run: ({ flags }) =>
    Store.use(
      Effect.gen(function* () {
        const { "older-than": olderThanDays, "max-bytes": maxBytes, keep, delete: remove } = flags
        if (olderThanDays === undefined && maxBytes === undefined) {
          return yield* failed(2, "USAGE", "say what may go: --older-than DAYS, --max-bytes N, or both")
        }
        const policy = {
          ...(olderThanDays === undefined ? {} : { olderThanDays }),
          ...(maxBytes === undefined ? {} : { maxBytes }),
          ...(keep === undefined ? {} : { keep }),
        }
        const store = yield* SessionStore.Service
        let looked: readonly [number, number] = [0, 0]
        const collecting = store.collect(policy, {
          dryRun: !remove,
          onLooked: (sessions, of) => {
            looked = [sessions, of]
          },
        })
        const found = yield* Store.tried(collecting).pipe(
          LongWork.during(() =>
            looked[0] < looked[1] ? `looked at ${looked[0]} of ${looked[1]} sessions` : remove ? "removing" : "looking",
          ),
        )
        if (flags.json) yield* Output.value({ deleted: remove, bytes: total(found), collected: found.map(json) }, true)
        else {
          yield* Output.lines(columns(found.map(row)))
          yield* Output.lines([remove ? `removed ${summary(found)}` : `would remove ${summary(found)}`])
        }
        return found.some(({ problem }) => problem !== undefined) ? (1 as const) : (0 as const)
      }),
    ),
})
