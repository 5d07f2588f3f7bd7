import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Json, JsonObject } from "./Json.ts"
import { faultOf } from "./Message.ts"
import type { Outgoing } from "./Outbox.ts"
import { type CallError, MalformedResult } from "./ProtocolError.ts"
import type { TransportClosed } from "./Transport.ts"

export interface CallSpec<A> {
  readonly method: string
  readonly params: JsonObject
  /** Where the call is filed. */
  readonly sessionId?: string
  /** Called just before the request is written. */
  readonly onWrite?: () => void
  /** Reads the answer, in wire order, before any later frame is handled; also a late one that nobody waits for. */
  readonly accept: (result: Json) => Result.Result<A, MalformedResult>
  /** Told in wire order of an error answer or one that cannot be read, or of the end of the connection. */
  readonly refuse?: (error: CallError) => void
}

/** A request under way. */
export interface Call<A> {
  /** The answer; waiting can be interrupted and repeated. */
  readonly answer: Effect.Effect<A, CallError>
  /** Takes the request back if it has not been written; `false` once it has. */
  readonly withdraw: () => boolean
  /** Sends `$/cancel_request`; the answer is still recognised when it comes. */
  readonly revoke: () => void
}

/** A request of ours that is not answered yet. */
export interface Pending {
  readonly method: string
  readonly sessionId: string | undefined
  /** It was written, or is about to be. What answers before that answers nothing. */
  sent: boolean
  readonly settle: (result: Result.Result<Json, CallError>) => void
}

/** Accepts a result as it is. */
export const asJson = (result: Json): Result.Result<Json> => Result.succeed(result)

/** Accepts any result and forgets it. */
export const asVoid = (): Result.Result<void> => Result.succeed(undefined)

/** Our requests of one connection: ids count from 0 and are never the agent's, an answer is matched by number only. */
export class Calls {
  /** Login methods to name in authentication errors. */
  advertised: ReadonlyArray<string> = []
  private readonly pending = new Map<number, Pending>()
  private readonly put: (frame: Outgoing) => void
  private readonly endings = new Set<(closed: TransportClosed) => void>()
  private nextId = 0
  private ended: TransportClosed | undefined

  constructor(put: (frame: Outgoing) => void) {
    this.put = put
  }

  /** The request that an answer with this id answers. */
  find(id: Json | undefined): Pending | undefined {
    const call = typeof id === "number" ? this.pending.get(id) : undefined
    return call?.sent === true ? call : undefined
  }

  /** Settles the request that this answers; `false` where nothing was asked under its id. */
  settle(message: JsonObject): boolean {
    const call = this.find(message.id)
    if (call === undefined) return false
    this.pending.delete(message.id as number)
    const failed = message.error !== undefined && message.error !== null
    call.settle(
      failed ? Result.fail(faultOf(call.method, message.error as Json, this.advertised)) : Result.succeed(message.result ?? null),
    )
    return true
  }

  /** Fails the request that an answer which nobody can read answers. */
  spoil(id: Json | undefined, why: string): void {
    const call = this.find(id)
    if (call === undefined) return
    this.pending.delete(id as number)
    call.settle(Result.fail(new MalformedResult({ method: call.method, why })))
  }

  /** Fails all that is pending, and all that is started from now on, then tells those who asked with {@link onEnd}. */
  end(closed: TransportClosed): void {
    this.ended = closed
    const waiting = [...this.pending.values()]
    this.pending.clear()
    for (const call of waiting) call.settle(Result.fail(closed))
    for (const tell of [...this.endings]) tell(closed)
  }

  /** Calls `tell` at the end of the connection; gives back how to be left alone. */
  onEnd(tell: (closed: TransportClosed) => void): () => void {
    this.endings.add(tell)
    return () => this.endings.delete(tell)
  }

  /** Puts a request into the outbox. */
  start<A>(spec: CallSpec<A>): Call<A> {
    const deferred = Deferred.makeUnsafe<A, CallError>()
    const id = this.nextId++
    const settle = (result: Result.Result<Json, CallError>): void => {
      const read = Result.isSuccess(result) ? spec.accept(result.success) : Result.fail(result.failure)
      if (Result.isFailure(read)) spec.refuse?.(read.failure)
      Deferred.doneUnsafe(deferred, Effect.fromResult(read))
    }
    const call: Pending = { method: spec.method, sessionId: spec.sessionId, sent: false, settle }
    if (this.ended !== undefined) settle(Result.fail(this.ended))
    else {
      this.pending.set(id, call)
      this.put({
        message: () => {
          if (!this.pending.has(id)) return undefined
          call.sent = true
          return { jsonrpc: "2.0", id, method: spec.method, params: spec.params }
        },
        filed: {
          kind: "request",
          id,
          method: spec.method,
          ...(spec.sessionId === undefined ? {} : { sessionId: spec.sessionId }),
        },
        ...(spec.onWrite === undefined ? {} : { onWrite: spec.onWrite }),
      })
    }
    return {
      answer: Deferred.await(deferred),
      withdraw: () => {
        if (!call.sent) this.pending.delete(id)
        return !call.sent
      },
      revoke: () => {
        if (!this.pending.has(id)) return
        this.put({
          message: () => ({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } }),
          filed: {
            kind: "notification",
            method: "$/cancel_request",
            ...(spec.sessionId === undefined ? {} : { sessionId: spec.sessionId }),
          },
        })
      },
    }
  }
}
