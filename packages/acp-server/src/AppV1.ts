import type { AgentSession, SessionEvent } from "@acp-kit/agent/AgentSession"
import { type AgentApp, agent, type InitializeResponse, RequestError } from "@agentclientprotocol/sdk/unstable"
import * as Effect from "effect/Effect"
import { blocksOf } from "./Blocks.ts"
import { handlers } from "./Bridge.ts"
import { EncodeV1, type Features } from "./EncodeV1.ts"
import { branchIdOf, lineageOf } from "./Lineage.ts"
import { pageOf } from "./SessionRows.ts"
import type { Settings } from "./Settings.ts"
import { sender } from "./Updates.ts"

/**
 * Kit as an agent of version 1 on the SDK's app. The handler of `session/prompt` stands before that of `session/cancel`: the SDK
 * tries handlers in this order, so that a cancel never overtakes the prompt before it.
 */
export const make = ({ info, sessions, context, transport }: Settings): AgentApp => {
  let features: Features = { notices: false }
  const handle = handlers(RequestError, context)
  const send = sender(transport)
  const view = (sessionId: string, event: SessionEvent) => send(sessionId, EncodeV1.live(event, features))
  const find = (id: string) => Effect.flatMap(sessions, (sessions) => sessions.get(id))
  const optionsOf = (session: AgentSession) => Effect.map(session.options, (list) => ({ configOptions: EncodeV1.options(list) }))
  const replay = ({ id, history }: AgentSession) => send(id, history.items().flatMap(EncodeV1.replay))

  return agent({ name: info.name })
    .onRequest("initialize", ({ params }) => {
      features = { notices: params.clientCapabilities?.session?.notices != null }
      return initialized(info)
    })
    .onRequest(
      "session/new",
      handle(({ params: { cwd, additionalDirectories = [], mcpServers = [] } }) =>
        Effect.gen(function* () {
          if (mcpServers.length > 0)
            yield* Effect.logWarning(`MCP servers are not started yet: ${mcpServers.length} of the client`)
          const session = yield* (yield* sessions).create({ cwd, additionalDirectories, view })
          return { sessionId: session.id, ...(yield* optionsOf(session)) }
        }),
      ),
    )
    .onRequest(
      "session/load",
      handle(({ params: { sessionId, cwd, additionalDirectories = [] } }) =>
        Effect.gen(function* () {
          const session = yield* (yield* sessions).load(sessionId, { cwd, additionalDirectories, view })
          yield* replay(session)
          return yield* optionsOf(session)
        }),
      ),
    )
    .onRequest(
      "session/resume",
      handle(({ params: { sessionId, cwd, additionalDirectories = [] } }) =>
        Effect.gen(function* () {
          return yield* optionsOf(yield* (yield* sessions).load(sessionId, { cwd, additionalDirectories, view }))
        }),
      ),
    )
    .onRequest(
      "session/fork",
      handle(({ params: { sessionId, cwd, additionalDirectories = [], _meta } }) =>
        Effect.gen(function* () {
          const id = branchIdOf(_meta)
          const options = { cwd, additionalDirectories, view, ...(id === undefined ? {} : { id }) }
          const branch = yield* (yield* sessions).fork(sessionId, options)
          return { sessionId: branch.id, ...(yield* optionsOf(branch)), _meta: lineageOf(sessionId) }
        }),
      ),
    )
    .onRequest(
      "session/list",
      handle(({ params: { cwd, cursor } }) =>
        Effect.gen(function* () {
          return pageOf(yield* (yield* sessions).list({ ...(cwd == null ? {} : { cwd }), ...(cursor == null ? {} : { cursor }) }))
        }),
      ),
    )
    .onRequest(
      "session/prompt",
      handle(({ params }) =>
        Effect.gen(function* () {
          const session = yield* find(params.sessionId)
          const turn = yield* session.begin(blocksOf(params.prompt), Effect.void)
          return { stopReason: yield* Effect.onInterrupt(turn.result, () => session.cancel) }
        }),
      ),
    )
    .onRequest(
      "session/set_config_option",
      handle(({ params }) =>
        Effect.gen(function* () {
          const session = yield* find(params.sessionId)
          return { configOptions: EncodeV1.options(yield* session.setOption(params.configId, params.value)) }
        }),
      ),
    )
    .onRequest(
      "session/close",
      handle(({ params }) =>
        Effect.gen(function* () {
          yield* (yield* sessions).close(params.sessionId)
          return {}
        }),
      ),
    )
    .onRequest(
      "session/delete",
      handle(({ params }) =>
        Effect.gen(function* () {
          yield* (yield* sessions).remove(params.sessionId)
          return {}
        }),
      ),
    )
    .onNotification(
      "session/cancel",
      handle(({ params }) => Effect.ignore(Effect.flatMap(find(params.sessionId), (session) => session.cancel))),
    )
}

const initialized = (info: Settings["info"]): InitializeResponse => ({
  protocolVersion: 1,
  agentInfo: info,
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {}, additionalDirectories: {} },
  },
  authMethods: [],
})

export * as AppV1 from "./AppV1.ts"
