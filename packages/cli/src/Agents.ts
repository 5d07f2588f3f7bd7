import type { ChildRecord } from "@acp-kit/store/ChildRecord"
import { SessionStore } from "@acp-kit/store/SessionStore"
import { NotFound, of, type StoreError } from "@acp-kit/store/StoreError"
import type { SubagentStore } from "@acp-kit/store/SubagentStore"
import * as Effect from "effect/Effect"
import { Directories } from "./Directories.ts"
import { Flag } from "./Flag.ts"
import { printable } from "./Printable.ts"
import { Terminal } from "./Terminal.ts"

/** Which sessions a command about agents looks into. */
export const flags = {
  session: Flag.text({
    placeholder: "ID",
    summary: "the agents of this session",
    fallback: "those of every session of the directory",
  }),
  root: Directories.flags.root,
}

interface Where {
  readonly session: string | undefined
  readonly root: string | undefined
  /** A session that is not looked into. */
  readonly except?: string
}

/** An agent on disk, with what its parent recorded of it. */
export interface Agent {
  readonly session: string
  readonly summary: SubagentStore.AgentSummary
  readonly record: ChildRecord | undefined
}

const sessionIds = Effect.fnUntraced(function* ({ session, root, except }: Where) {
  if (session !== undefined) return [session]
  const store = yield* SessionStore.Service
  const cwd = yield* Directories.working(root ?? ".")
  const found = yield* store.list({ cwd, subagents: true })
  return found.filter(({ id, info }) => info !== undefined && id !== except).map(({ id }) => id)
})

/** One session of many: where it cannot be read stderr tells so, and the others are looked into all the same. A session that was named must be readable. */
const isolated = <A, R>({ session }: Where, id: string, look: Effect.Effect<A, StoreError, R>) =>
  Effect.catchTag(look, "StoreError", (error) =>
    session !== undefined
      ? Effect.fail(error)
      : Effect.gen(function* () {
          const terminal = yield* Terminal.Service
          yield* terminal.err(`kit: session ${id} is left out: ${printable(error.message)}\n`)
          return undefined
        }),
  )

/** Every agent of the sessions meant, newest session first, newest agent first. A nested Kit's own children are among them. */
export const list = Effect.fnUntraced(function* (where: Where) {
  const store = yield* SessionStore.Service
  const rows = yield* Effect.forEach(yield* sessionIds(where), (id) => {
    const all = Effect.gen(function* () {
      const session = yield* store.openReader(id)
      const summaries = yield* session.subagents.list()
      if (summaries.length === 0) return []
      const records = new Map((yield* session.children).map((record) => [record.id, record]))
      return summaries.map((summary): Agent => ({ session: id, summary, record: records.get(summary.id) }))
    })
    return Effect.map(isolated(where, id, all), (found) => found ?? [])
  })
  return rows.flat()
})

/** The session that holds an agent, open for reading, and what its parent recorded of it. Fails with `NotFound` where none of them does, with `ForeignSession` where another than the one meant does (K10). */
export const find = Effect.fnUntraced(function* (id: string, where: Where) {
  const store = yield* SessionStore.Service
  for (const sessionId of yield* sessionIds(where)) {
    const look = Effect.gen(function* () {
      const session = yield* store.openReader(sessionId)
      const summaries = yield* session.subagents.list()
      if (!summaries.some((summary) => summary.id === id)) return undefined
      return { session, record: (yield* session.children).find((child) => child.id === id) }
    })
    const found = yield* isolated(where, sessionId, look)
    if (found !== undefined) return found
  }
  if (where.session !== undefined) yield* (yield* store.openReader(where.session)).subagents.load(id)
  return yield* of(new NotFound({ what: "subagent", id }))
})

export * as Agents from "./Agents.ts"
