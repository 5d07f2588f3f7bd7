import type { AgentSession } from "@acp-kit/agent/AgentSession"
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
import { Extensions } from "./Extensions.ts"
import { Inject } from "./Inject.ts"
import { SessionMethods } from "./SessionMethods.ts"
import type { Settings } from "./Settings.ts"
import { sender } from "./Updates.ts"

/**
 * Kit as an agent of version 2 on the SDK's app. A prompt is answered as soon as it is accepted, and its turn begins once that answer
 * is on the wire. The handler of `session/prompt` stands before that of `session/cancel`: the SDK tries handlers in this order, so
 * that a cancel never overtakes the prompt before it.
 */
export const make = (settings: Settings): AgentApp => {
  const { info, context, transport } = settings
  const handle = handlers(RequestError, context)
  const inject = Inject.methods(RequestError)
  const send = sender(transport)
  const methods = SessionMethods.make(settings, {
    options: EncodeV2.options,
    view: (sessionId, event) => send(sessionId, EncodeV2.live(event)),
  })
  const extensions = Extensions.methods(RequestError, methods)
  const replay = ({ id, history }: AgentSession) =>
    Effect.forEach(history.items(), (item) => send(id, EncodeV2.replay(item)), { discard: true })

  return agent({ name: info.name })
    .onRequest("initialize", () => initialized(info))
    .onRequest(
      "session/new",
      handle(({ params }) => methods.open(params)),
    )
    .onRequest(
      "session/resume",
      handle(({ params }) =>
        Effect.gen(function* () {
          const whole = yield* wantsReplay(params)
          const session = yield* methods.load(params)
          if (whole) yield* replay(session)
          yield* send(session.id, [EncodeV2.atRest])
          return yield* methods.optionsOf(session)
        }),
      ),
    )
    .onRequest(
      "session/fork",
      handle(({ params }) => methods.fork(params)),
    )
    .onRequest(
      "session/list",
      handle(({ params }) => methods.list(params)),
    )
    .onRequest(
      "session/prompt",
      handle(({ params, requestId }) =>
        Effect.gen(function* () {
          const session = yield* methods.find(params.sessionId)
          const { messageId } = yield* session.begin(yield* blocksOf(params.prompt), transport.answered(requestId))
          return { messageId }
        }),
      ),
    )
    .onRequest(
      ...inject.inject,
      handle(({ params }) =>
        Effect.gen(function* () {
          const { steering } = yield* methods.find(params.sessionId)
          return { messageId: yield* steering.add(yield* blocksOf(params.content)) }
        }),
      ),
    )
    .onRequest(
      ...inject.revoke,
      handle(({ params }) =>
        Effect.gen(function* () {
          yield* (yield* methods.find(params.sessionId)).steering.revoke(params.messageId)
          return {}
        }),
      ),
    )
    .onRequest(
      ...inject.replace,
      handle(({ params }) =>
        Effect.gen(function* () {
          yield* (yield* methods.find(params.sessionId)).steering.replace(params.messageId, yield* blocksOf(params.content))
          return { messageId: params.messageId }
        }),
      ),
    )
    .onRequest(
      "session/set_config_option",
      handle(({ params }) => methods.setOption(params)),
    )
    .onRequest(
      "session/close",
      handle(({ params }) => methods.close(params)),
    )
    .onRequest(
      "session/delete",
      handle(({ params }) => methods.remove(params)),
    )
    .onRequest(
      ...extensions.detach,
      handle(({ params }) => extensions.detached(params)),
    )
    .onRequest(
      ...extensions.cancel,
      handle(({ params }) => extensions.cancelled(params)),
    )
    .onNotification(
      "session/cancel",
      handle(({ params }) => methods.cancel(params)),
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
    _meta: Extensions.capability,
  },
  authMethods: [],
})

export * as AppV2 from "./AppV2.ts"
