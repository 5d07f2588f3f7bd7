import type { AgentSession, SessionEvent } from "@acp-kit/agent/AgentSession"
import type { ConfigOption } from "@acp-kit/agent/SessionOptions"
import * as Effect from "effect/Effect"
import { ParamsInvalid } from "./Bridge.ts"
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
  readonly mcpServers?: ReadonlyArray<object>
  readonly systemPrompt?: unknown
}

type Meta = { readonly [key: string]: unknown } | null

/** The methods of a session that are the same in both versions but for the encoding of options and events. */
export const make = <Option>({ sessions }: Pick<Settings, "sessions">, { options, view }: Encoder<Option>) => {
  const find = (id: string) => Effect.flatMap(sessions, (sessions) => sessions.get(id))
  const optionsOf = (session: AgentSession) => Effect.map(session.options, (list) => ({ configOptions: options(list) }))

  /** A session's directories and view. MCP servers and system prompts, which `initialize` does not offer to take, are refused rather than left out. */
  const setup = Effect.fnUntraced(function* ({ cwd, additionalDirectories = [], mcpServers = [], systemPrompt }: In) {
    const names = mcpServers.map((server) => ("name" in server ? String(server.name) : "one without a name"))
    if (names.length > 0) return yield* new ParamsInvalid({ message: `MCP servers are not supported: ${names.join(", ")}` })
    if (systemPrompt != null) return yield* new ParamsInvalid({ message: "a system prompt of the client is not supported" })
    return { cwd, additionalDirectories, view }
  })

  return {
    find,
    optionsOf,
    /** `session/new` */
    open: Effect.fnUntraced(function* (params: In) {
      const session = yield* (yield* sessions).create(yield* setup(params))
      return { sessionId: session.id, ...(yield* optionsOf(session)) }
    }),
    /** What `session/load` and `session/resume` begin with. */
    load: Effect.fnUntraced(function* (params: Of & In) {
      return yield* (yield* sessions).load(params.sessionId, yield* setup(params))
    }),
    /** `session/fork` */
    fork: Effect.fnUntraced(function* (params: Of & In & { readonly _meta?: Meta | undefined }) {
      const id = branchIdOf(params._meta)
      const options = { ...(yield* setup(params)), ...(id === undefined ? {} : { id }) }
      const branch = yield* (yield* sessions).fork(params.sessionId, options)
      return { sessionId: branch.id, ...(yield* optionsOf(branch)), _meta: lineageOf(params.sessionId) }
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
