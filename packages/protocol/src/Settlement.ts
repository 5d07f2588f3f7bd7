import type { JsonObject } from "./Json.ts"

/**
 * Decides when a v2 turn has settled (decision 9): the prompt was answered, and an idle came after the request was written that either
 * follows a `running` or `requires_action` seen since, or came after the answer. A repeated idle is nothing new; work that starts again
 * before the answer needs its own idle. While cancelling, an idle that says `cancelled` is enough.
 */
export class Settlement {
  /** The raw update that settles, or would once the answer is there. */
  idle: JsonObject | undefined
  cancelling = false
  private written = false
  private active = false
  private answered = false

  /** The request is about to be written; states before it never count. */
  write(): void {
    this.written = true
  }

  /** The prompt was answered; `true` if that settles the turn. */
  answer(): boolean {
    this.answered = true
    return this.idle !== undefined && !this.active
  }

  /** A `state_update` was folded; `true` if that settles the turn. */
  state(update: JsonObject): boolean {
    if (!this.written) return false
    if (update.state === "running" || update.state === "requires_action") {
      this.active = true
      return false
    }
    if (update.state !== "idle" || !(this.active || this.answered)) return false
    this.active = false
    this.idle = update
    return this.answered || (this.cancelling && update.stopReason === "cancelled")
  }

  /** Work was seen that no idle has ended. */
  get working(): boolean {
    return this.active
  }
}
