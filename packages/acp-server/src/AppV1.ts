import type { TurnEvent } from "@acp-kit/agent/TurnLoop"
import { type AgentApp, agent, type InitializeResponse, RequestError } from "@agentclientprotocol/sdk/unstable"
import * as Effect from "effect/Effect"
import { blocksOf } from "./Blocks.ts"
import { handlers } from "./Bridge.ts"
import { EncodeV1, type Features } from "./EncodeV1.ts"
import type { Settings } from "./Settings.ts"
import * as Updates from "./Updates.ts"

/**
 * Kit as an agent of version 1 on the SDK's app. The handler of `session/prompt` stands before that of `session/cancel`: the SDK
 * tries handlers in this order, so that a cancel never overtakes the prompt before it.
 */
export const make = ({ info, sessions, context }: Settings): AgentApp => {
  let features: Features = { notices: false }
  const handle = handlers(RequestError, context)
  const updates = Updates.make()
  const view = (sessionId: string, event: TurnEvent) => updates.send(sessionId, EncodeV1.live(event, features))
  const find = (id: string) => Effect.flatMap(sessions, (sessions) => sessions.get(id))

  return agent({ name: info.name })
    .onConnect((connection) => updates.attach(connection.client))
    .onRequest("initialize", ({ params }) => {
      features = { notices: params.clientCapabilities?.session?.notices != null }
      return initialized(info)
    })
    .onRequest(
      "session/new",
      handle(({ params: { cwd, additionalDirectories = [] } }) =>
        Effect.gen(function* () {
          const session = yield* (yield* sessions).create({ cwd, additionalDirectories, view })
          return { sessionId: session.id, configOptions: EncodeV1.options(yield* session.options) }
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
    .onNotification(
      "session/cancel",
      handle(({ params }) => Effect.ignore(Effect.flatMap(find(params.sessionId), (session) => session.cancel))),
    )
}

const initialized = (info: Settings["info"]): InitializeResponse => ({
  protocolVersion: 1,
  agentInfo: info,
  agentCapabilities: {
    promptCapabilities: { image: true, embeddedContext: true },
    sessionCapabilities: { close: {}, additionalDirectories: {} },
  },
  authMethods: [],
})

export * as AppV1 from "./AppV1.ts"
