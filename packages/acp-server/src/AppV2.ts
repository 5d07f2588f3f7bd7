import type { AgentSession, SessionEvent } from "@acp-kit/agent/AgentSession"
import {
  type AgentApp,
  agent,
  type InitializeResponse,
  RequestError,
  type ResumeSessionRequest,
} from "@agentclientprotocol/sdk/experimental/v2/unstable"
import * as Effect from "effect/Effect"
import { blocksOf } from "./Blocks.ts"
import { handlers, ParamsInvalid } from "./Bridge.ts"
import { EncodeV2 } from "./EncodeV2.ts"
import { Inject } from "./Inject.ts"
import { branchIdOf, lineageOf } from "./Lineage.ts"
import { pageOf } from "./SessionRows.ts"
import type { Settings } from "./Settings.ts"
import { sender } from "./Updates.ts"

/**
 * Kit as an agent of version 2 on the SDK's app. A prompt is answered as soon as it is accepted, and its turn begins once that answer
 * is on the wire. The handler of `session/prompt` stands before that of `session/cancel`: the SDK tries handlers in this order, so
 * that a cancel never overtakes the prompt before it.
 */
export const make = ({ info, sessions, context, transport }: Settings): AgentApp => {
  const handle = handlers(RequestError, context)
  const inject = Inject.methods(RequestError)
  const send = sender(transport)
  const view = (sessionId: string, event: SessionEvent) => send(sessionId, EncodeV2.live(event))
  const find = (id: string) => Effect.flatMap(sessions, (sessions) => sessions.get(id))
  const optionsOf = (session: AgentSession) => Effect.map(session.options, (list) => ({ configOptions: EncodeV2.options(list) }))
  const replay = ({ id, history }: AgentSession) => send(id, history.items().flatMap(EncodeV2.replay))

  return agent({ name: info.name })
    .onRequest("initialize", () => initialized(info))
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
      "session/resume",
      handle(({ params }) =>
        Effect.gen(function* () {
          const { sessionId, cwd, additionalDirectories = [] } = params
          const whole = yield* wantsReplay(params)
          const session = yield* (yield* sessions).load(sessionId, { cwd, additionalDirectories, view })
          if (whole) yield* replay(session)
          yield* send(sessionId, [EncodeV2.atRest])
          return yield* optionsOf(session)
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
      handle(({ params, requestId }) =>
        Effect.gen(function* () {
          const session = yield* find(params.sessionId)
          const { messageId } = yield* session.begin(blocksOf(params.prompt), transport.answered(requestId))
          return { messageId }
        }),
      ),
    )
    .onRequest(
      ...inject.inject,
      handle(({ params }) =>
        Effect.gen(function* () {
          const { steering } = yield* find(params.sessionId)
          return { messageId: yield* steering.add(params.content) }
        }),
      ),
    )
    .onRequest(
      ...inject.revoke,
      handle(({ params }) =>
        Effect.gen(function* () {
          yield* (yield* find(params.sessionId)).steering.revoke(params.messageId)
          return {}
        }),
      ),
    )
    .onRequest(
      ...inject.replace,
      handle(({ params }) =>
        Effect.gen(function* () {
          yield* (yield* find(params.sessionId)).steering.replace(params.messageId, params.content)
          return { messageId: params.messageId }
        }),
      ),
    )
    .onRequest(
      "session/set_config_option",
      handle(({ params }) =>
        Effect.gen(function* () {
          const session = yield* find(params.sessionId)
          return { configOptions: EncodeV2.options(yield* session.setOption(params.configId, params.value)) }
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

/** Nothing is replayed unless it is asked for, and then all of it. */
const wantsReplay = ({ replayFrom }: ResumeSessionRequest) => {
  if (replayFrom == null) return Effect.succeed(false)
  return replayFrom.type === "start"
    ? Effect.succeed(true)
    : Effect.fail(new ParamsInvalid({ message: "unsupported ACP v2 replay cursor" }))
}

const initialized = (info: Settings["info"]): InitializeResponse => ({
  protocolVersion: 2,
  info,
  capabilities: {
    session: {
      prompt: { image: {}, embeddedContext: {} },
      delete: {},
      fork: {},
      additionalDirectories: {},
      ...Inject.capability,
    },
  },
  authMethods: [],
})

export * as AppV2 from "./AppV2.ts"
