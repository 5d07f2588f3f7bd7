import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { asJson, asVoid, type CallSpec } from "./Calls.ts"
import type { Capabilities } from "./Capabilities.ts"
import { admitContent } from "./Content.ts"
import { Gate, type Restore } from "./Gate.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import { sessionIdOf } from "./Message.ts"
import { Methods } from "./Methods.ts"
import { type ConfigOption, readOptions } from "./Options.ts"
import type { Peer } from "./Peer.ts"
import {
  type CallError,
  CapabilityMissing,
  type DeadlineExceeded,
  deadlineExceeded,
  MalformedResult,
  NotWorking,
  SessionRetired,
} from "./ProtocolError.ts"
import type { OpenOptions, Session } from "./Session.ts"
import { SessionFold } from "./SessionFold.ts"
import { startTurn, type TurnRun } from "./TurnRun.ts"

const openedOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {})

/** Refuses additional directories that the agent would silently drop (S171). */
export const requireDirectories = (
  capabilities: Capabilities,
  directories: ReadonlyArray<string> | undefined,
): Effect.Effect<void, CapabilityMissing> =>
  directories === undefined || directories.length === 0 || capabilities.additionalDirectories
    ? Effect.void
    : Effect.fail(new CapabilityMissing({ capability: "additionalDirectories" }))

/**
 * A call that opens a session under the id its answer names. The session is known from the answer on, in wire order; what came for it
 * before is folded first.
 */
export const opening = (
  peer: Peer,
  spec: Pick<CallSpec<Session>, "method" | "params" | "sessionId">,
  inherited?: () => ReadonlyArray<Json> | undefined,
): CallSpec<Session> => {
  let counted = 0
  const answered = () => {
    peer.routes.opening -= counted
    counted = 0
  }
  return {
    ...spec,
    onWrite: () => {
      peer.routes.opening += 1
      counted = 1
    },
    refuse: answered,
    accept: (value) => {
      answered()
      const id = sessionIdOf(value)
      if (id === undefined || id === "") return Result.fail(new MalformedResult({ method: spec.method, why: "no sessionId" }))
      if (peer.routes.find(id) !== undefined)
        return Result.fail(new MalformedResult({ method: spec.method, why: "sessionId is already open" }))
      const fold = new SessionFold()
      fold.replaying = true
      peer.routes.add(id, fold)
      fold.replaying = false
      const opened = openedOf(value)
      if (Array.isArray(opened.configOptions)) fold.configOptions = opened.configOptions
      else fold.configOptions ??= inherited?.()
      return Result.succeed(openSession(peer, id, fold, opened))
    },
  }
}

/** The verbs of a session over its fold. */
export const openSession = (peer: Peer, id: string, fold: SessionFold, opened: JsonObject): Session => {
  const { capabilities, connection, limits, routes } = peer
  const gate = new Gate()
  let run: TurnRun | undefined

  const retired = new SessionRetired({ sessionId: id })

  const enter = (restore: Restore) =>
    Effect.gen(function* () {
      if (fold.retired) return yield* retired
      yield* gate.enter(restore)
      if (!fold.retired) return
      gate.leave()
      return yield* retired
    })

  const begin = (blocks: ReadonlyArray<Json>, restore: Restore) =>
    Effect.gen(function* () {
      const admitted = yield* Effect.fromResult(admitContent(blocks, capabilities, limits.lineBytes))
      yield* enter(restore)
      const started = startTurn(peer, id, fold, admitted, () => {
        run = undefined
        gate.leave()
      })
      run = started
      yield* connection.fork(started.watch)
      return started
    })

  const fork = (options: OpenOptions) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        if (!capabilities.fork) return yield* new CapabilityMissing({ capability: "fork" })
        yield* requireDirectories(capabilities, options.additionalDirectories)
        yield* enter(restore)
        const request = connection.start(
          opening(peer, { method: "session/fork", params: Methods.fork(id, options), sessionId: id }, () => fold.configOptions),
        )
        let detached = false
        const cleanUp = request.answer.pipe(
          Effect.flatMap((late) => (capabilities.close ? late.close : Effect.sync(() => routes.remove(late.id)))),
          Effect.ignore,
          Effect.ensuring(Effect.sync(() => gate.leave())),
        )
        const giveUp = Effect.suspend(() => {
          if (request.withdraw()) return Effect.void
          detached = true
          request.revoke()
          return connection.fork(cleanUp)
        })
        return yield* restore(
          Effect.timeoutOrElse(request.answer, {
            duration: limits.fork,
            orElse: () => Effect.fail(deadlineExceeded("session/fork", limits.fork)),
          }),
        ).pipe(
          Effect.onInterrupt(() => giveUp),
          Effect.tapError((error) => (error._tag === "DeadlineExceeded" ? giveUp : Effect.void)),
          Effect.ensuring(
            Effect.sync(() => {
              if (!detached) gate.leave()
            }),
          ),
        )
      }),
    )

  const ended = (method: "session/close" | "session/delete", capability: "close" | "delete") =>
    Effect.suspend((): Effect.Effect<void, CallError | CapabilityMissing | DeadlineExceeded> => {
      if (!capabilities[capability]) return Effect.fail(new CapabilityMissing({ capability }))
      return connection.callWithin({ method, params: { sessionId: id }, sessionId: id, accept: asVoid }, limits[capability])
    })

  return {
    id,
    opened,
    replay: { ...fold.replay },
    view: Effect.sync(() => fold.view()),
    configOptions: Effect.sync(() => fold.configOptions),
    options: Effect.sync(() => readOptions(fold.configOptions)),
    prompt: (blocks) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(begin(blocks, restore), (turn) => Effect.onInterrupt(restore(turn.result), () => turn.cancel)),
      ),
    begin: (blocks) =>
      Effect.suspend(() => {
        let started: TurnRun | undefined
        const starting = Effect.uninterruptibleMask((restore) =>
          Effect.tap(begin(blocks, restore), (turn) =>
            Effect.sync(() => {
              started = turn
            }),
          ),
        )
        return Effect.onInterrupt(starting, () => Effect.suspend(() => started?.cancel ?? Effect.void))
      }),
    steer: (blocks) =>
      Effect.gen(function* () {
        const admitted = yield* Effect.fromResult(admitContent(blocks, capabilities, limits.lineBytes))
        if (!capabilities.steer) return yield* new CapabilityMissing({ capability: "steer" })
        if (fold.retired) return yield* retired
        if (!fold.busy) return yield* new NotWorking({ sessionId: id })
        return yield* connection.callWithin(
          { method: "session/inject", params: Methods.steer(id, admitted), sessionId: id, accept: asJson },
          limits.steer,
          { abandon: "leave" },
        )
      }),
    setOption: (option, value) =>
      Effect.suspend((): Effect.Effect<ReadonlyArray<ConfigOption>, CallError | SessionRetired> => {
        if (fold.retired) return Effect.fail(retired)
        return connection.call({
          method: "session/set_config_option",
          params: Methods.setOption(capabilities.version, id, option, value),
          sessionId: id,
          accept: (answer) => {
            if (isJsonObject(answer) && Array.isArray(answer.configOptions)) fold.configOptions = answer.configOptions
            return Result.succeed(readOptions(fold.configOptions))
          },
        })
      }),
    fork,
    close: Effect.suspend(() => {
      if (!capabilities.close) return ended("session/close", "close")
      fold.retired = true
      gate.tearDown()
      return Effect.ensuring(
        ended("session/close", "close"),
        Effect.sync(() => {
          routes.remove(id)
          run?.abandon()
        }),
      )
    }),
    delete: ended("session/delete", "delete"),
    activity: (capacity = 256) => Stream.unwrap(Effect.map(fold.subscribe(capacity), (queue) => Stream.fromQueue(queue))),
  }
}
