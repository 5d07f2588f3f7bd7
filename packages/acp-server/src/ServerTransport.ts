import { type Json, type JsonObject, parseJson, stringifyJson, utf8Bytes } from "@acp-kit/protocol/Json"
import { type Line, makeLines } from "@acp-kit/protocol/Lines"
import { tooLarge } from "@acp-kit/protocol/MessageSize"
import type { Transport } from "@acp-kit/protocol/Transport"
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk/unstable"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Batches, type BatchPolicy } from "./Batches.ts"
import { requestIdIn } from "./MessageHead.ts"
import { type MessageId, passable, shapeOf } from "./MessageShape.ts"
import { redact } from "./Redaction.ts"

/** Longest line either way, in bytes without the line feed. */
export const lineBytes = 32 * 1024 * 1024

export interface Options {
  /** `reject` where absent. */
  readonly batches?: BatchPolicy | undefined
  /** {@link lineBytes} where absent. */
  readonly lineBytes?: number | undefined
  /** Told, for people, of each message that was refused for its size or left out. */
  readonly onRefused?: ((what: string) => Effect.Effect<void>) | undefined
}

export interface ServerTransport {
  /** The messages as the SDK wants them. Pulled: while the SDK does not read, nothing is read from the client. */
  readonly stream: Stream
  /** Writes a notification and succeeds once the client's pipe has taken it. A client that is gone is told nothing. */
  readonly notify: (method: string, params: object) => Effect.Effect<void>
  /** Resolves at the end of the client's input, when it is given up, or when the pipes are broken. */
  readonly ended: Effect.Effect<void>
  /** Why the input was given up before its end, if it was. */
  readonly gaveUp: () => string | undefined
  /** Resolves once every request that was read has its answer on the wire, at once where none is open. */
  readonly idle: Effect.Effect<void>
  /** Resolves once the answer to this request is on the wire, or can no longer get there. */
  readonly answered: (id: string | number | null) => Effect.Effect<void>
  /** Ends the message stream after the client's input has ended; the SDK then closes its connection. */
  readonly finish: Effect.Effect<void>
}

/**
 * The framing of the agent's side: one JSON-RPC message a line, strict UTF-8, exact integers, a bounded line. A line that is no
 * message is answered with an error and the connection goes on. So is a request that is too long where its id stands in front; where
 * nobody can tell what a line that is too long was, whoever sent it would wait for ever: the input ends there. What is too long to leave
 * becomes an error where it is an answer, and does not leave where it is an update. The message stream stays open after the end of the input,
 * so that what was asked can still be answered.
 */
export const make = (transport: Transport, options: Options = {}): ServerTransport => {
  const { batches: policy = "reject", lineBytes: limit = lineBytes, onRefused = () => Effect.void } = options
  const batches = new Batches()
  const lines = makeLines(limit)
  const ids = new WideIds()
  const open = new OpenRequests()
  const ended = Deferred.makeUnsafe<void>()
  const finished = Deferred.makeUnsafe<void>()
  let writable = true
  let gaveUp: string | undefined

  const gone = Effect.sync(() => {
    writable = false
    open.abandon()
    Deferred.doneUnsafe(ended, Exit.void)
  })

  const send = (text: string) => (writable ? Effect.catch(transport.write(`${text}\n`), () => gone) : Effect.void)

  const put = (message: unknown) =>
    Effect.suspend(() => {
      const text = textOf(message)
      if (3 * text.length <= limit || utf8Bytes(text) <= limit) return send(text)
      const shorter = shortened(message as Json, limit)
      const told = onRefused(tooLarge(shorter === undefined ? "an update for the client" : "the answer to the client", limit))
      return shorter === undefined ? told : Effect.andThen(told, send(stringifyJson(shorter)))
    })

  const write = (message: Json): Promise<void> => Effect.runPromise(put(message))

  /** The messages of a line; what is none is answered. */
  const accept = async (line: Line): Promise<ReadonlyArray<JsonObject>> => {
    const value = typeof line === "string" ? parseJson(line) : undefined
    if (value === undefined) await write(failure(-32700, "Parse error"))
    else if (!Array.isArray(value)) {
      const { messages, refusals } = await judge([value])
      for (const refusal of refusals) await write(refusal)
      return messages
    } else if (policy === "jsonrpc" && value.length > 0) return await acceptBatch(value)
    else await write(failure(-32600, "Invalid request: JSON-RPC batches are not supported"))
    return []
  }

  const acceptBatch = async (entries: ReadonlyArray<Json>): Promise<ReadonlyArray<JsonObject>> => {
    const { messages, refusals } = await judge(entries)
    const requests = messages.filter(isRequest)
    if (requests.length > 0)
      batches.open(
        requests.map(({ id }) => id),
        refusals,
      )
    else if (refusals.length > 0) await write(refusals)
    return messages
  }

  /**
   * What of a line goes on, and the answers to what does not. The SDK would answer some of it without its id, so that nobody would know whose answer
   * it is. We ask a client nothing: its answers are left out.
   */
  const judge = async (entries: ReadonlyArray<Json>) => {
    const messages: Array<JsonObject> = []
    const refusals: Array<JsonObject> = []
    const taken = new Set<Json | undefined>()
    const leave = (what: string) => Effect.runPromise(onRefused(what))
    for (const entry of entries) {
      const shape = isObject(entry) ? shapeOf(entry) : "none"
      if (!isObject(entry) || shape === "none") refusals.push(failure(-32600, "Invalid request"))
      else if (shape === "answer") await leave("an answer of the client to nothing that was asked")
      else if (shape === "notification") {
        const message = passable(ids.inbound(entry))
        if (message === undefined) await leave("a session/cancel of the client names no session")
        else messages.push(message)
      } else if (open.has(ids.nameOf(entry.id)) || taken.has(entry.id)) {
        refusals.push(failure(-32600, "Invalid request: a request with this id is still open", entry.id as MessageId))
      } else {
        taken.add(entry.id)
        messages.push(ids.inbound(entry))
      }
    }
    return { messages, refusals }
  }

  /** Refuses the line that is too long; `false` where nobody can be told whose request it was. */
  const refuse = async (head: string): Promise<boolean> => {
    const id = requestIdIn(head)
    const why = tooLarge("the message", limit)
    await write(failure(-32600, `Invalid request: ${why}`, id ?? null))
    if (id === undefined) gaveUp = tooLarge("a message of the client", limit)
    else await Effect.runPromise(onRefused(tooLarge("a request of the client", limit)))
    return id !== undefined
  }

  /** What follows `initialize` waits for its answer, so that a client may write ahead. */
  const taken = async function* (accepted: ReadonlyArray<JsonObject>): AsyncGenerator<JsonObject, void> {
    for (const message of accepted) {
      if (isRequest(message)) open.add(message.id as RequestId)
      yield message
      if (message.method === "initialize") await Effect.runPromise(open.answered(message.id as RequestId))
    }
  }

  const messages = async function* (): AsyncGenerator<JsonObject, void> {
    for (let more = true; more; ) {
      const chunk = await Effect.runPromise(Effect.orElseSucceed(transport.read, () => undefined))
      more = chunk !== undefined
      let complete = chunk === undefined ? lines.rest() : lines.push(chunk)
      for (let head: string | undefined; ; complete = lines.skip()) {
        for (const line of complete) yield* taken(await accept(line))
        head = lines.oversize()
        if (head === undefined) break
        more = await refuse(head)
        if (!more) break
      }
    }
    Deferred.doneUnsafe(ended, Exit.void)
    await Effect.runPromise(Deferred.await(finished))
  }

  const leaving = (message: JsonObject) => redact(ids.outbound(message))

  const inbound = messages()
  const readable = new ReadableStream<AnyMessage>(
    {
      pull: async (controller) => {
        const { value, done } = await inbound.next()
        if (done) controller.close()
        else controller.enqueue(value as unknown as AnyMessage)
      },
    },
    { highWaterMark: 0 },
  )

  const outbound = new WritableStream<AnyMessage>({
    write: async (message) => {
      const out = batches.collect(message as unknown as JsonObject)
      if (out !== undefined)
        await write("length" in out ? (out as ReadonlyArray<JsonObject>).map(leaving) : leaving(out as JsonObject))
      if (!("method" in message)) open.settle(message.id)
    },
  })

  return {
    stream: { readable, writable: outbound },
    notify: (method, params) => Effect.suspend(() => put({ jsonrpc: "2.0", method, params })),
    ended: Deferred.await(ended),
    gaveUp: () => gaveUp,
    idle: open.idle,
    answered: open.answered,
    finish: Effect.sync(() => {
      Deferred.doneUnsafe(finished, Exit.void)
    }),
  }
}

/** The text of a message; the native way refuses integers beyond 2^53, ours is exact and slower. */
const textOf = (message: unknown): string => {
  try {
    return JSON.stringify(message)
  } catch {
    return stringifyJson(message as Json)
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isRequest = (message: JsonObject) => "method" in message && "id" in message

const failure = (code: number, message: string, id: MessageId = null): JsonObject => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
})

/** What leaves in place of answers that are too long, of an error its code and message; nothing does in place of what is no answer. */
const shortened = (message: Json, limit: number): Json | undefined => {
  if (Array.isArray(message)) return message.map((answer) => shortened(answer, limit) as Json)
  const { id, method, error } = message as JsonObject
  if (isObject(error)) return failure(Number(error.code), String(error.message), id as RequestId)
  return id === undefined || method !== undefined ? undefined : failure(-32603, tooLarge("the answer", limit), id as RequestId)
}

type RequestId = string | number | null

/** Requests that were read and not answered yet. */
class OpenRequests {
  private readonly open = new Map<RequestId, Deferred.Deferred<void>>()
  private readonly waiting: Array<Deferred.Deferred<void>> = []
  private abandoned = false

  add(id: RequestId) {
    if (!this.open.has(id)) this.open.set(id, Deferred.makeUnsafe())
  }

  has(id: RequestId): boolean {
    return this.open.has(id)
  }

  settle(id: RequestId) {
    const answered = this.open.get(id)
    this.open.delete(id)
    if (answered) Deferred.doneUnsafe(answered, Exit.void)
    if (this.open.size === 0) for (const idle of this.waiting.splice(0)) Deferred.doneUnsafe(idle, Exit.void)
  }

  /** The client is gone: nobody waits for answers any more. */
  abandon() {
    this.abandoned = true
    for (const id of [...this.open.keys()]) this.settle(id)
  }

  readonly answered = (id: RequestId) =>
    Effect.suspend(() => {
      const answered = this.open.get(id)
      return answered && !this.abandoned ? Deferred.await(answered) : Effect.void
    })

  readonly idle = Effect.suspend(() => {
    if (this.open.size === 0) return Effect.void
    const idle = Deferred.makeUnsafe<void>()
    this.waiting.push(idle)
    return Deferred.await(idle)
  })
}

/** The SDK knows ids that are strings or safe integers; wider integers pass it under names of ours and leave as they came. */
class WideIds {
  private readonly names = new Map<string, bigint>()

  inbound(message: JsonObject): JsonObject {
    const named = this.name(message, "id")
    const params = named.params
    const isCancel =
      named.method === "$/cancel_request" && typeof params === "object" && params !== null && !Array.isArray(params)
    return isCancel ? { ...named, params: this.name(params as JsonObject, "requestId") } : named
  }

  outbound(message: JsonObject): JsonObject {
    const wide = this.names.get(message.id as string)
    if (wide === undefined || "method" in message) return message
    this.names.delete(message.id as string)
    return { ...message, id: wide }
  }

  /** What the SDK calls this id. */
  nameOf(id: Json | undefined): RequestId {
    return typeof id === "bigint" ? `\u0000${id}` : (id as RequestId)
  }

  private name(message: JsonObject, key: string): JsonObject {
    const id = message[key]
    const name = this.nameOf(id)
    if (typeof id !== "bigint") return message
    this.names.set(String(name), id)
    return { ...message, [key]: name }
  }
}

export * as ServerTransport from "./ServerTransport.ts"
