import type { TurnEvent } from "@acp-kit/agent/TurnLoop"
import { type AgentApp, agent, type InitializeResponse, RequestError } from "@agentclientprotocol/sdk/experimental/v2/unstable"
import * as Effect from "effect/Effect"
import { blocksOf } from "./Blocks.ts"
import { handlers } from "./Bridge.ts"
import { EncodeV2 } from "./EncodeV2.ts"
import type { Settings } from "./Settings.ts"
import * as Updates from "./Updates.ts"

/**
 * Kit as an agent of version 2 on the SDK's app. A prompt is answered as soon as it is accepted, and its turn begins once that answer
 * is on the wire. The handler of `session/prompt` stands before that of `session/cancel`: the SDK tries handlers in this order, so
 * that a cancel never overtakes the prompt before it.
 */
export const make = ({ info, sessions, context, transport }: Settings): AgentApp => {
  const handle = handlers(RequestError, context)
  const updates = Updates.make()
  const view = (sessionId: string, event: TurnEvent) => updates.send(sessionId, EncodeV2.live(event))
  const find = (id: string) => Effect.flatMap(sessions, (sessions) => sessions.get(id))

  return agent({ name: info.name })
    .onConnect((connection) => updates.attach(connection.client))
    .onRequest("initialize", () => initialized(info))
    .onRequest(
      "session/new",
      handle(({ params: { cwd, additionalDirectories = [] } }) =>
        Effect.gen(function* () {
          const session = yield* (yield* sessions).create({ cwd, additionalDirectories, view })
          return { sessionId: session.id, configOptions: EncodeV2.options(yield* session.options) }
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
    .onNotification(
      "session/cancel",
      handle(({ params }) => Effect.ignore(Effect.flatMap(find(params.sessionId), (session) => session.cancel))),
    )
}

const initialized = (info: Settings["info"]): InitializeResponse => ({
  protocolVersion: 2,
  info,
  capabilities: { session: { prompt: { image: {}, embeddedContext: {} }, additionalDirectories: {} } },
  authMethods: [],
})

export * as AppV2 from "./AppV2.ts"
