import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject, stringifyJson } from "./Json.ts"
import { Methods } from "./Methods.ts"
import type { Peer } from "./Peer.ts"
import { type CallError, MalformedResult } from "./ProtocolError.ts"
import type { PromptError, Turn } from "./Session.ts"
import type { SessionFold } from "./SessionFold.ts"
import { Settlement } from "./Settlement.ts"
import { TurnFold } from "./TurnFold.ts"
import { failureOf, TurnFailed, type TurnFailure, type TurnResult } from "./TurnResult.ts"

/** A turn that was started. */
export interface TurnRun extends Turn {
  /** Ends a turn that was answered with an error but whose work goes on, `limits.settle` later; to be run beside the turn. */
  readonly watch: Effect.Effect<void>
  /** Settles it as cancelled where nobody will answer any more. */
  readonly abandon: () => void
}

const stopReasonOf = (from: Json | undefined): string | undefined => {
  const reason = isJsonObject(from) ? from.stopReason : undefined
  if (reason === undefined || reason === null) return undefined
  return typeof reason === "string" ? reason : stringifyJson(reason)
}

/** Puts `session/prompt` into the outbox; `onSettled` is called once, before whoever waits for the result goes on. */
export const startTurn = (
  peer: Peer,
  sessionId: string,
  session: SessionFold,
  blocks: ReadonlyArray<JsonObject>,
  onSettled: () => void,
): TurnRun => {
  const { connection, limits } = peer
  const version = peer.capabilities.version
  const fold = new TurnFold(limits)
  const settlement = new Settlement()
  const done = Deferred.makeUnsafe<TurnResult, PromptError>()
  let settled = false
  let answer: Json = null
  const erred = Deferred.makeUnsafe<void>()
  let failed: CallError | undefined
  let asked = false

  const settle = (outcome: Effect.Effect<TurnResult, PromptError>): void => {
    if (settled) return
    settled = true
    leave()
    session.endTurn()
    Deferred.doneUnsafe(done, outcome)
    onSettled()
  }

  const result = (): TurnResult => {
    const text = fold.text.text()
    const idle = settlement.idle
    return {
      stopReason: stopReasonOf(idle ?? answer),
      text,
      items: fold.captured.items(),
      truncated: fold.captured.truncated,
      rich: fold.rich,
      empty: text.length === 0 && !fold.rich,
      unknown: fold.unknown.items(),
      configOptions: session.configOptions,
      tools: fold.tools.list(),
      usage: session.usage,
      answer,
      idle,
    }
  }

  const fail = (reason: TurnFailure): void =>
    settle(Effect.fail(new TurnFailed({ reason, result: result(), limit: limits.answerBytes })))

  const complete = (): void => {
    if (settled) return
    const outcome = result()
    const reason = failureOf(outcome.stopReason)
    if (reason !== undefined) fail(reason)
    else if (fold.text.exceeded) fail("too_large")
    else settle(Effect.succeed(outcome))
  }

  const askToCancel = (): void => {
    session.cancelling = true
    settlement.cancelling = true
    if (!asked) connection.notify("session/cancel", { sessionId })
    asked = true
  }

  const onExcess = (): void => {
    if (settled || settlement.cancelling) return
    askToCancel()
    session.retired = true
    fail("too_large")
  }

  const onState = (update: JsonObject): void => {
    if (version === 1) return
    if (settlement.state(update)) complete()
    else if (failed !== undefined && !settlement.working) giveUp(failed)
  }

  const giveUp = (error: CallError): void => {
    if (error._tag === "RpcError" && settlement.cancelling) fail("cancelled")
    else settle(Effect.fail(error))
  }

  const refuse = (error: CallError): void => {
    if (error._tag === "RpcError" && version === 2 && settlement.working) {
      failed = error
      Deferred.doneUnsafe(erred, Effect.void)
    } else giveUp(error)
  }

  const leave = connection.onEnd((closed) => settle(Effect.fail(closed)))
  const request = connection.start({
    method: "session/prompt",
    params: Methods.prompt(sessionId, blocks),
    sessionId,
    onWrite: () => {
      if (settled) return
      settlement.write()
      session.turn = { fold, onState, onExcess }
    },
    accept: (value) => {
      answer = value
      const reason = isJsonObject(value) ? value.stopReason : undefined
      const stopped = typeof reason === "string"
      if (version === 1 && !stopped) {
        const why = reason === undefined ? "no stopReason" : `stopReason is no string: ${stringifyJson(reason).slice(0, 64)}`
        return Result.fail(new MalformedResult({ method: "session/prompt", why }))
      }
      if (stopped || settlement.answer()) complete()
      return Result.succeed(value)
    },
    refuse,
  })
  session.busy = !settled

  const waited = Effect.exit(Deferred.await(done))

  return {
    result: Deferred.await(done),
    cancel: Effect.suspend(() => {
      if (settled) return Effect.succeed("settled" as const)
      if (request.withdraw()) {
        fail("cancelled")
        return Effect.succeed("unsent" as const)
      }
      askToCancel()
      return Effect.as(waited, "settled" as const).pipe(
        Effect.timeoutOrElse({
          duration: limits.settle,
          orElse: () =>
            Effect.sync(() => {
              if (settled) return "settled" as const
              session.retired = true
              fail("cancelled")
              return "unsettled" as const
            }),
        }),
      )
    }),
    watch: Effect.raceFirst(
      Effect.asVoid(waited),
      Effect.andThen(
        Effect.andThen(Deferred.await(erred), Effect.sleep(limits.settle)),
        Effect.sync(() => {
          if (failed !== undefined) giveUp(failed)
        }),
      ),
    ),
    abandon: () => {
      request.withdraw()
      fail("cancelled")
    },
  }
}
