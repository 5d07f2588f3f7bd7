import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Call, type CallSpec, Calls } from "./Calls.ts"
import { fileInbound, framesOf, type Incoming } from "./Filing.ts"
import { isJsonObject, type Json, type JsonObject, stringifyJson } from "./Json.ts"
import { type Line, makeLines } from "./Lines.ts"
import { codes, sessionIdOf, shapeOf } from "./Message.ts"
import { makeOutbox } from "./Outbox.ts"
import { type CallError, type DeadlineExceeded, deadlineExceeded } from "./ProtocolError.ts"
import { type Transport, TransportClosed } from "./Transport.ts"
import type { Noise, WireFrame } from "./WireFrame.ts"

/** What an agent's request is answered with. */
export type Reply = { readonly result: Json } | { readonly error: { readonly code: number; readonly message: string } }

/** Called in wire order, never while another frame is handled. */
export interface Handlers {
  readonly notification: (method: string, params: Json | undefined) => void
  /** The reply is made when its turn to be written comes, so that a cancelled turn can still change it. */
  readonly request: (method: string, params: Json | undefined) => () => Reply
  /** Where a session that nobody here opened belongs; may learn from the frame where others belong. */
  readonly parentOf: (sessionId: string, method: string, params: Json | undefined) => string | undefined
}

/** What becomes of a request when its caller goes: `leave` lets it stand, else it is revoked. One that is not written yet is taken back. */
export interface Abandon {
  readonly abandon?: "leave"
}

/** A JSON-RPC peer over a transport: one reader, one writer, wire order. */
export interface Connection {
  readonly start: <A>(spec: CallSpec<A>) => Call<A>
  readonly call: <A>(spec: CallSpec<A>, how?: Abandon) => Effect.Effect<A, CallError>
  readonly callWithin: <A>(
    spec: CallSpec<A>,
    deadline: Duration.Input,
    how?: Abandon,
  ) => Effect.Effect<A, CallError | DeadlineExceeded>
  readonly notify: (method: string, params: JsonObject) => void
  /** Runs in the scope of the connection. */
  readonly fork: (effect: Effect.Effect<unknown>) => Effect.Effect<unknown>
  /** Calls `tell` once at the end, after everything pending has failed; gives back how to be left alone. */
  readonly onEnd: (tell: (closed: TransportClosed) => void) => () => void
  /** Names these login methods in authentication errors from now on. */
  readonly advertise: (methodIds: ReadonlyArray<string>) => void
  readonly closed: Effect.Effect<TransportClosed>
  /** Succeeds once every frame that was put out before has been written, or the connection is gone. */
  readonly flush: Effect.Effect<void>
}

export interface ConnectionOptions {
  readonly lineBytes: number
  readonly drain: Duration.Input
  readonly handlers: Handlers
  readonly observe?: ((frames: ReadonlyArray<WireFrame>) => Effect.Effect<void>) | undefined
  readonly onNoise?: ((noise: Noise) => Effect.Effect<void>) | undefined
}

/** More than any pipe or socket between two processes holds. */
const pipeBytes = 4 * 1024 * 1024
const idleLooks = 8

const tooDeep: Reply = { error: { code: codes.invalidRequest, message: "Nested too deeply" } }

/** A copy: a slice would hold all of a long line. */
const sampleOf = (line: string): string => new TextDecoder().decode(new TextEncoder().encode(line.slice(0, 512)))

const closedBy = (reason: TransportClosed["reason"]) =>
  new TransportClosed({ reason, exitCode: undefined, signal: undefined, stderrTail: "" })

const oversize = (limit: number) =>
  new TransportClosed({ reason: "oversize", exitCode: undefined, signal: undefined, stderrTail: "", limit })

/** Starts the reader and the writer in the scope. */
export const makeConnection = (transport: Transport, options: ConnectionOptions): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { drain, handlers, observe, onNoise } = options
    const scope = yield* Effect.scope
    const outbox = yield* makeOutbox(transport, observe)
    const calls = new Calls(outbox.put)
    const gone = Deferred.makeUnsafe<TransportClosed>()
    const asked = new Map<string, { withdrawn: boolean }>()
    let reads = 0
    let bytes = 0
    let handling = false

    const finish = (closed: TransportClosed): void => {
      if (Deferred.isDoneUnsafe(gone)) return
      Deferred.doneUnsafe(gone, Effect.succeed(closed))
      calls.end(closed)
    }

    const reply = (id: Json, method: string, params: Json | undefined, make: () => Reply): void => {
      const key = stringifyJson(id)
      const open = { withdrawn: false }
      asked.set(key, open)
      const sessionId = sessionIdOf(params)
      outbox.put({
        message: () => {
          if (asked.get(key) === open) asked.delete(key)
          const answer: Reply = open.withdrawn ? { error: { code: codes.cancelled, message: "Request cancelled" } } : make()
          return { jsonrpc: "2.0", id, ...answer }
        },
        filed: { kind: "response", id, method, ...(sessionId === undefined ? {} : { sessionId }) },
      })
    }

    const withdraw = (params: Json | undefined): void => {
      const id = isJsonObject(params) ? params.requestId : undefined
      const open = id === undefined ? undefined : asked.get(stringifyJson(id))
      if (open !== undefined) open.withdrawn = true
    }

    const handle = (message: JsonObject): Noise["why"] | undefined => {
      switch (shapeOf(message)) {
        case "notification":
          if (message.method === "$/cancel_request") withdraw(message.params)
          else handlers.notification(message.method as string, message.params)
          return undefined
        case "response":
          return calls.settle(message) ? undefined : "stray"
        case "request":
          reply(
            message.id as Json,
            message.method as string,
            message.params,
            handlers.request(message.method as string, message.params),
          )
          return undefined
        default:
          return "shape"
      }
    }

    const refuse = (message: JsonObject): void => {
      const id = message.id
      const shape = shapeOf(message)
      if (shape === "response") calls.spoil(id, "it nests too deeply")
      if (shape === "request" && (typeof id !== "object" || id === null))
        reply(id as Json, message.method as string, undefined, () => tooDeep)
    }

    const noiseOf = ({ message, deep }: Incoming): Noise["why"] | undefined => {
      if (message === undefined) return "json"
      if (!isJsonObject(message)) return deep ? "depth" : Array.isArray(message) ? "batch" : "shape"
      if (!deep) return handle(message)
      refuse(message)
      return "depth"
    }

    const take = (frame: Incoming, noises: Array<Noise>): void => {
      const why = noiseOf(frame)
      if (why !== undefined) noises.push({ why, sample: sampleOf(frame.line) })
    }

    const takeLine = (line: Line, noises: Array<Noise>): void => {
      if (typeof line !== "string") noises.push({ why: "utf8", sample: line.sample })
      else for (const frame of framesOf(line)) take(frame, noises)
    }

    const tell = (noises: ReadonlyArray<Noise>): Effect.Effect<void> =>
      onNoise === undefined ? Effect.void : Effect.forEach(noises, onNoise, { discard: true })

    const observed = (lines: ReadonlyArray<Line>, watch: (frames: ReadonlyArray<WireFrame>) => Effect.Effect<void>) =>
      Effect.gen(function* () {
        const frames: Array<WireFrame> = []
        const steps: Array<(noises: Array<Noise>) => void> = []
        for (const line of lines) {
          if (typeof line !== "string") {
            frames.push({ direction: "in", line: line.sample, kind: "noise" })
            steps.push((noises) => takeLine(line, noises))
            continue
          }
          for (const frame of framesOf(line)) {
            frames.push(fileInbound(frame, calls, handlers.parentOf))
            steps.push((noises) => take(frame, noises))
          }
        }
        if (frames.length > 0) yield* watch(frames)
        for (const step of steps) {
          const noises: Array<Noise> = []
          step(noises)
          if (noises.length > 0) yield* tell(noises)
        }
      })

    const accept = (lines: ReadonlyArray<Line>): Effect.Effect<void> | undefined => {
      if (observe !== undefined) return observed(lines, observe)
      const noises: Array<Noise> = []
      for (const line of lines) takeLine(line, noises)
      return noises.length > 0 ? tell(noises) : undefined
    }

    const details = (reason: TransportClosed["reason"]): Effect.Effect<TransportClosed> =>
      Effect.timeoutOrElse(transport.closed, { duration: drain, orElse: () => Effect.succeed(closedBy(reason)) })

    const read = Effect.gen(function* () {
      const lines = makeLines(options.lineBytes)
      while (true) {
        handling = false
        const chunk = yield* transport.read
        if (Deferred.isDoneUnsafe(gone)) return yield* Deferred.await(gone)
        reads += 1
        bytes += chunk?.length ?? 0
        handling = true
        const work = accept(chunk === undefined ? lines.rest() : lines.push(chunk))
        if (work !== undefined) yield* work
        if (chunk === undefined) return yield* details("eof")
        if (lines.oversize() !== undefined) return oversize(options.lineBytes)
        if (outbox.crowded()) yield* outbox.room
      }
    }).pipe(
      Effect.catchTag("TransportClosed", (closed) =>
        closed.exitCode === undefined && closed.signal === undefined ? details(closed.reason) : Effect.succeed(closed),
      ),
    )

    /**
     * What the agent wrote before it ended is still read: waits until nothing has come for `drain`. Whoever inherited its pipe may write
     * for ever, so the wait also ends when more has come than a pipe holds, and when nothing was left to read for the eighth time.
     */
    const quiet = Effect.gen(function* () {
      outbox.stop()
      const most = bytes + pipeBytes
      let looks = idleLooks
      for (let seen = -1; (handling || seen !== reads) && looks > 0 && bytes <= most; ) {
        if (Deferred.isDoneUnsafe(gone)) return
        seen = reads
        if (!handling) looks -= 1
        yield* Effect.sleep(drain)
      }
    })

    const endsWith = (work: Effect.Effect<TransportClosed>): Effect.Effect<void> =>
      work.pipe(
        Effect.matchCauseEffect({
          onSuccess: (closed) => Effect.sync(() => finish(closed)),
          onFailure: (cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.void
              : Effect.andThen(
                  Effect.logError("the connection failed", cause),
                  Effect.sync(() => finish(closedBy("io"))),
                ),
        }),
      )

    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Effect.sync(() => finish(closedBy("closed"))),
        transport.end,
      ),
    )
    yield* Effect.forkIn(endsWith(read), scope)
    yield* Effect.forkIn(endsWith(Effect.tap(outbox.run, () => quiet)), scope)
    yield* Effect.forkIn(endsWith(Effect.tap(transport.closed, () => quiet)), scope)

    const call: Connection["call"] = (spec, how) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const request = calls.start(spec)
          return Effect.onInterrupt(restore(request.answer), () =>
            Effect.sync(() => {
              if (!request.withdraw() && how?.abandon !== "leave") request.revoke()
            }),
          )
        }),
      )

    return {
      start: (spec) => calls.start(spec),
      call,
      callWithin: (spec, deadline, how) =>
        Effect.timeoutOrElse(call(spec, how), {
          duration: deadline,
          orElse: () => Effect.fail(deadlineExceeded(spec.method, deadline)),
        }),
      notify: (method, params) => {
        const sessionId = sessionIdOf(params)
        outbox.put({
          message: () => ({ jsonrpc: "2.0", method, params }),
          filed: { kind: "notification", method, ...(sessionId === undefined ? {} : { sessionId }) },
        })
      },
      fork: (effect) => Effect.forkIn(effect, scope),
      onEnd: (tell) => calls.onEnd(tell),
      advertise: (methodIds) => {
        calls.advertised = methodIds
      },
      closed: Deferred.await(gone),
      flush: Effect.suspend(() => {
        const written = Deferred.makeUnsafe<void>()
        outbox.put({
          message: () => {
            Deferred.doneUnsafe(written, Effect.void)
            return undefined
          },
          filed: { kind: "notification" },
        })
        return Effect.raceFirst(Deferred.await(written), Effect.asVoid(Deferred.await(gone)))
      }),
    }
  })
