import type { Mood } from "../Mood.ts"
import type { Peer } from "./Peer.ts"
import type { Session } from "./Sessions.ts"
import type { Fields } from "./Value.ts"

/** How a script ended before its last step. */
export type Outcome =
  | { readonly kind: "stop"; readonly stop: string | null; readonly error?: unknown; readonly usage?: unknown }
  | { readonly kind: "fail"; readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | { readonly kind: "answer"; readonly result: unknown }
  | { readonly kind: "mute" }
  | { readonly kind: "cancelled" }

/** Where a script plays: a session, a turn of it, or neither. */
export class Stage {
  readonly peer: Peer
  readonly mood: Mood
  readonly version: number
  readonly session: Session | undefined
  /** The message that agent text belongs to. */
  messageId: string
  /** All text said so far. */
  said = ""
  deaf = false
  readonly #cancelled = Promise.withResolvers<void>()
  #isCancelled = false
  readonly #injected: Array<{ readonly messageId: string; readonly content: unknown }> = []
  #wake: (() => void) | undefined

  constructor(peer: Peer, mood: Mood, version: number, session: Session | undefined, messageId: string) {
    this.peer = peer
    this.mood = mood
    this.version = version
    this.session = session
    this.messageId = messageId
  }

  cancel(): void {
    this.#isCancelled = true
    this.#cancelled.resolve()
  }

  /** True once cancelled, unless the steps at work are deaf. */
  get over(): boolean {
    return this.#isCancelled && !this.deaf
  }

  get cancelled(): Promise<void> {
    return this.deaf ? new Promise(() => {}) : this.#cancelled.promise
  }

  inject(messageId: string, content: unknown): void {
    this.#injected.push({ messageId, content })
    this.#wake?.()
  }

  /** The next steering message; `undefined` when the turn was cancelled first. */
  async nextInject(): Promise<{ readonly messageId: string; readonly content: unknown } | undefined> {
    while (this.#injected.length === 0 && !this.over) {
      const woken = new Promise<void>((wake) => {
        this.#wake = wake
      })
      await Promise.race([woken, this.cancelled])
    }
    return this.#injected.shift()
  }

  get hasInject(): boolean {
    return this.#injected.length > 0
  }

  update(update: Fields, sessionId = this.session?.id): Promise<void> {
    return this.peer.notify("session/update", { sessionId, update })
  }

  async say(text: string, messageId = this.messageId): Promise<void> {
    this.said += text
    await this.chunk({ type: "text", text }, messageId)
  }

  chunk(content: unknown, messageId = this.messageId, kind = "agent_message_chunk"): Promise<void> {
    const marked = this.version === 1 ? this.mood.v1MessageIds === true : this.mood.v2?.noMessageIds !== true
    return this.update({ sessionUpdate: kind, ...(marked ? { messageId } : {}), content })
  }
}
