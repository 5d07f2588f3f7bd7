import { type Json, type JsonObject, parseJson, stringifyJson } from "@acp-kit/protocol/Json"
import { type Line, makeLines } from "@acp-kit/protocol/Lines"
import type { Transport } from "@acp-kit/protocol/Transport"
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk/unstable"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Batches, type BatchPolicy } from "./Batches.ts"
import { redact } from "./Redaction.ts"

/** Longest line that is taken from the client, in bytes without the line feed. */
export const lineBytes = 32 * 1024 * 1024

export interface ServerTransport {
  /** The messages as the SDK wants them. Pulled: while the SDK does not read, nothing is read from the client. */
  readonly stream: Stream
  /** Writes a notification and succeeds once the client's pipe has taken it. A client that is gone is told nothing. */
  readonly notify: (method: string, params: object) => Effect.Effect<void>
  /** Resolves at the end of the client's input, or when the pipes are broken. */
  readonly ended: Effect.Effect<void>
  /** Resolves once every request that was read has its answer on the wire, at once where none is open. */
  readonly idle: Effect.Effect<void>
  /** Resolves once the answer to this request is on the wire, or can no longer get there. */
  readonly answered: (id: string | number | null) => Effect.Effect<void>
  /** Ends the message stream after the client's input has ended; the SDK then closes its connection. */
  readonly finish: Effect.Effect<void>
}

/**
 * The framing of the agent's side: one JSON-RPC message a line, strict UTF-8, exact integers, a bounded line. A line that is no
 * message is answered with an error and the connection goes on; a line that is too long ends the input. The message stream stays
 * open after the end of the input, so that what was asked can still be answered.
 */
export const make = (transport: Transport, policy: BatchPolicy = "reject"): ServerTransport => {
  const batches = new Batches()
  const lines = makeLines(lineBytes)
  const ids = new WideIds()
  const open = new OpenRequests()
  const ended = Deferred.makeUnsafe<void>()
  const finished = Deferred.makeUnsafe<void>()
  let writable = true

  const gone = Effect.sync(() => {
    writable = false
    open.abandon()
    Deferred.doneUnsafe(ended, Exit.void)
  })

  const put = (message: unknown) => (writable ? Effect.catch(transport.write(`${textOf(message)}\n`), () => gone) : Effect.void)

  const write = (message: Json): Promise<void> => Effect.runPromise(put(message))

  /** The messages of a line; what is none is answered. */
  const accept = async (line: Line): Promise<ReadonlyArray<JsonObject>> => {
    const value = typeof line === "string" ? parseJson(line) : undefined
    if (value === undefined) await write(failure(-32700, "Parse error"))
    else if (isObject(value)) return [ids.inbound(value)]
    else if (!Array.isArray(value)) await write(failure(-32600, "Invalid request"))
    else if (policy === "jsonrpc" && value.length > 0) return await acceptBatch(value)
    else await write(failure(-32600, "Invalid request: JSON-RPC batches are not supported"))
    return []
  }

  const acceptBatch = async (entries: ReadonlyArray<Json>): Promise<ReadonlyArray<JsonObject>> => {
    const messages = entries.filter(isObject).map((entry) => ids.inbound(entry))
    const refused = entries.filter((entry) => !isObject(entry)).map(() => failure(-32600, "Invalid request"))
    const requests = messages.filter(isRequest)
    if (requests.length > 0)
      batches.open(
        requests.map(({ id }) => id),
        refused,
      )
    else if (refused.length > 0) await write(refused)
    return messages
  }

  /** What follows `initialize` waits for its answer, so that a client may write ahead. */
  const messages = async function* (): AsyncGenerator<JsonObject, void> {
    for (let more = true; more; ) {
      const chunk = await Effect.runPromise(Effect.orElseSucceed(transport.read, () => undefined))
      const complete = chunk === undefined ? lines.rest() : lines.push(chunk)
      more = chunk !== undefined && !lines.oversize()
      for (const line of complete) {
        for (const message of await accept(line)) {
          if (isRequest(message)) open.add(message.id as RequestId)
          yield message
          if (message.method === "initialize") await Effect.runPromise(open.answered(message.id as RequestId))
        }
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

const failure = (code: number, message: string): JsonObject => ({ jsonrpc: "2.0", id: null, error: { code, message } })

type RequestId = string | number | null

/** Requests that were read and not answered yet. */
class OpenRequests {
  private readonly open = new Map<RequestId, Deferred.Deferred<void>>()
  private readonly waiting: Array<Deferred.Deferred<void>> = []
  private abandoned = false

  add(id: RequestId) {
    if (!this.open.has(id)) this.open.set(id, Deferred.makeUnsafe())
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

  private name(message: JsonObject, key: string): JsonObject {
    const id = message[key]
    if (typeof id !== "bigint") return message
    const name = `\u0000${id}`
    this.names.set(name, id)
    return { ...message, [key]: name }
  }
}

export * as ServerTransport from "./ServerTransport.ts"
