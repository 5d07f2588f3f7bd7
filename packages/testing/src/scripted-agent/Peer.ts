import * as Crypto from "node:crypto"
import type { Mood, RpcError } from "../Mood.ts"
import { type Fields, fields } from "./Value.ts"
import type { Wire } from "./Wire.ts"

/** How a request of the agent ended. */
export type Answer =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "withdrawn" }

interface Open {
  readonly id: number | string
  readonly sessionId: unknown
  readonly settle: (answer: Answer) => void
}

/** The JSON-RPC half: frames out, answers matched to the agent's own requests. */
export class Peer {
  readonly wire: Wire
  readonly #mood: Mood
  readonly #open = new Map<string, Open>()
  #next = 0

  constructor(wire: Wire, mood: Mood) {
    this.wire = wire
    this.#mood = mood
  }

  result(id: unknown, result: unknown): Promise<void> {
    return this.#send({ id, result })
  }

  error(id: unknown, error: RpcError): Promise<void> {
    return this.#send({ id, error })
  }

  notify(method: string, params: unknown): Promise<void> {
    return this.#send({ method, ...(params === undefined ? {} : { params }) })
  }

  request(method: string, params: unknown): Promise<Answer> {
    const id = this.#mood.requestIds === "uuid" ? Crypto.randomUUID() : this.#next++
    void this.#send({ id, method, ...(params === undefined ? {} : { params }) })
    return new Promise((settle) => {
      this.#open.set(JSON.stringify(id), { id, sessionId: fields(params).sessionId, settle })
    })
  }

  /** Takes an answer of the client; answers to nothing are left alone. */
  answered(message: Fields): void {
    const key = JSON.stringify(message.id)
    const open = this.#open.get(key)
    this.#open.delete(key)
    open?.settle("error" in message ? { kind: "error", error: message.error } : { kind: "result", result: message.result })
  }

  /** Takes back every open request of a session. */
  withdraw(sessionId: string): void {
    for (const [key, open] of this.#open) {
      if (open.sessionId !== sessionId) continue
      this.#open.delete(key)
      void this.notify("$/cancel_request", { requestId: open.id })
      open.settle({ kind: "withdrawn" })
    }
  }

  #send(message: Fields): Promise<void> {
    return this.wire.line(JSON.stringify({ jsonrpc: "2.0", ...message }))
  }
}
