import type { AgentSession, SessionEvent } from "@acp-kit/agent/AgentSession"
import type { ConfigOption } from "@acp-kit/agent/SessionOptions"
import * as Effect from "effect/Effect"
import { branchIdOf, lineageOf } from "./Lineage.ts"
import { pageOf } from "./SessionRows.ts"
import type { Settings } from "./Settings.ts"

/** How a version writes what these methods tell. */
export interface Encoder<Option> {
  readonly options: (list: ReadonlyArray<ConfigOption>) => Array<Option>
  readonly view: (sessionId: string, event: SessionEvent) => Effect.Effect<void>
}

interface Of {
  readonly sessionId: string
}

interface In {
  readonly cwd: string
  readonly additionalDirectories?: ReadonlyArray<string>
}

type Meta = { readonly [key: string]: unknown } | null

/** The methods of a session that are the same in both versions but for the encoding of options and events. */
export const make = <Option>({ sessions }: Pick<Settings, "sessions">, { options, view }: Encoder<Option>) => {
  const find = (id: string) => Effect.flatMap(sessions, (sessions) => sessions.get(id))
  const optionsOf = (session: AgentSession) => Effect.map(session.options, (list) => ({ configOptions: options(list) }))

  return {
    find,
    optionsOf,
    /** `session/new` */
    open: Effect.fnUntraced(function* ({
      cwd,
      additionalDirectories = [],
      mcpServers = [],
    }: In & { readonly mcpServers?: ReadonlyArray<unknown> }) {
      if (mcpServers.length > 0) yield* Effect.logWarning(`MCP servers are not started yet: ${mcpServers.length} of the client`)
      const session = yield* (yield* sessions).create({ cwd, additionalDirectories, view })
      return { sessionId: session.id, ...(yield* optionsOf(session)) }
    }),
    /** What `session/load` and `session/resume` begin with. */
    load: Effect.fnUntraced(function* ({ sessionId, cwd, additionalDirectories = [] }: Of & In) {
      return yield* (yield* sessions).load(sessionId, { cwd, additionalDirectories, view })
    }),
    /** `session/fork` */
    fork: Effect.fnUntraced(function* ({
      sessionId,
      cwd,
      additionalDirectories = [],
      _meta,
    }: Of & In & { readonly _meta?: Meta | undefined }) {
      const id = branchIdOf(_meta)
      const branch = yield* (yield* sessions).fork(sessionId, {
        cwd,
        additionalDirectories,
        view,
        ...(id === undefined ? {} : { id }),
      })
      return { sessionId: branch.id, ...(yield* optionsOf(branch)), _meta: lineageOf(sessionId) }
    }),
    /** `session/list` */
    list: Effect.fnUntraced(function* ({
      cwd,
      cursor,
    }: {
      readonly cwd?: string | null | undefined
      readonly cursor?: string | null | undefined
    }) {
      return pageOf(yield* (yield* sessions).list({ ...(cwd == null ? {} : { cwd }), ...(cursor == null ? {} : { cursor }) }))
    }),
    /** `session/set_config_option` */
    setOption: Effect.fnUntraced(function* ({
      sessionId,
      configId,
      value,
    }: Of & { readonly configId: string; readonly value?: unknown }) {
      return { configOptions: options(yield* (yield* find(sessionId)).setOption(configId, value)) }
    }),
    /** `session/close` */
    close: Effect.fnUntraced(function* ({ sessionId }: Of) {
      yield* (yield* sessions).close(sessionId)
      return {}
    }),
    /** `session/delete` */
    remove: Effect.fnUntraced(function* ({ sessionId }: Of) {
      yield* (yield* sessions).remove(sessionId)
      return {}
    }),
    /** `session/cancel`; one of an unknown session is ignored. */
    cancel: ({ sessionId }: Of): Effect.Effect<void> =>
      Effect.ignore(Effect.flatMap(find(sessionId), (session) => session.cancel)),
  }
}

export * as SessionMethods from "./SessionMethods.ts"
