import type { AgentSession } from "@acp-kit/agent/AgentSession"
import { type AgentApp, agent, type InitializeResponse, RequestError } from "@agentclientprotocol/sdk/unstable"
import * as Effect from "effect/Effect"
import { blocksOf } from "./Blocks.ts"
import { handlers } from "./Bridge.ts"
import { EncodeV1, type Features } from "./EncodeV1.ts"
import { Extensions } from "./Extensions.ts"
import { SessionMethods } from "./SessionMethods.ts"
import type { Settings } from "./Settings.ts"
import { sender } from "./Updates.ts"

const turnStateMethod = "kit/turn/state"

/**
 * Kit as an agent of version 1 on the SDK's app. The handler of `session/prompt` stands before that of `session/cancel`: the SDK
 * tries handlers in this order, so that a cancel never overtakes the prompt before it.
 */
export const make = (settings: Settings): AgentApp => {
  const { info, context, transport } = settings
  let features: Features = { notices: false, turnState: false }
  const handle = handlers(RequestError, context)
  const send = sender(transport)
  const methods = SessionMethods.make(settings, {
    options: EncodeV1.options,
    view: (sessionId, event) => {
      const state = features.turnState ? EncodeV1.turnState(sessionId, event) : undefined
      return state === undefined ? send(sessionId, EncodeV1.live(event, features)) : transport.notify(turnStateMethod, state)
    },
  })
  const extensions = Extensions.methods(RequestError, methods)
  const replay = ({ id, history }: AgentSession) =>
    Effect.forEach(history.items(), (item) => send(id, EncodeV1.replay(item)), { discard: true })

  return agent({ name: info.name })
    .onRequest("initialize", ({ params }) => {
      const offered = params.clientCapabilities
      features = { notices: offered?.session?.notices != null, turnState: offered?._meta?.[turnStateMethod] != null }
      return initialized(info)
    })
    .onRequest(
      "session/new",
      handle(({ params }) => methods.open(params)),
    )
    .onRequest(
      "session/load",
      handle(({ params }) => Effect.flatMap(Effect.tap(methods.load(params), replay), methods.optionsOf)),
    )
    .onRequest(
      "session/resume",
      handle(({ params }) => Effect.flatMap(methods.load(params), methods.optionsOf)),
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
      handle(({ params }) =>
        Effect.gen(function* () {
          const session = yield* methods.find(params.sessionId)
          const turn = yield* session.begin(yield* blocksOf(params.prompt), Effect.void)
          return { stopReason: yield* Effect.onInterrupt(turn.result, () => session.cancel) }
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

const initialized = (info: Settings["info"]): InitializeResponse => ({
  protocolVersion: 1,
  agentInfo: info,
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {}, additionalDirectories: {} },
    _meta: { ...Extensions.capability, [turnStateMethod]: {} },
  },
  authMethods: [],
})

export * as AppV1 from "./AppV1.ts"
