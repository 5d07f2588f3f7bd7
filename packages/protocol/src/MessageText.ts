import { stringifyJson, utf8Bytes } from "./Json.ts"

const flattenAt = 4096

/** Text that grows by pieces; the pieces are melted together now and then, so that a piece weighs no more than its characters. */
class Pieces {
  private whole = ""
  private parts: Array<string> = []

  add(piece: string): void {
    this.parts.push(piece)
    if (this.parts.length >= flattenAt) this.melt()
  }

  text(): string {
    this.melt()
    return this.whole
  }

  private melt(): void {
    this.whole += this.parts.join("")
    this.parts = []
  }
}

interface Message {
  readonly id: string | undefined
  pieces: Pieces
  bytes: number
}

/**
 * The agent's text of one turn: messages in order of first sight, each keyed by its id; chunks append, a whole message replaces (S112).
 * Chunks without an id belong to a nameless message, as long as no other message comes between.
 * No more than `limit` bytes of compact JSON are held.
 */
export class MessageText {
  /** More came than may be held; what is held is not all of it, and nothing is added any more. */
  exceeded = false
  private readonly messages: Array<Message> = []
  private readonly byId = new Map<string, Message>()
  private last: Message | undefined
  private bytes = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** Appends; an empty piece still takes the message's place in the order. */
  append(id: string | undefined, piece: string): void {
    const message = this.last !== undefined && this.last.id === id ? this.last : this.find(id)
    if (piece.length > 0) this.hold(message, piece)
  }

  /** Replaces what the message held. */
  replace(id: string | undefined, text: string): void {
    const message = this.find(id)
    this.bytes -= message.bytes
    message.bytes = 0
    message.pieces = new Pieces()
    this.hold(message, text)
  }

  text(): string {
    return this.messages.reduce((text, message) => text + message.pieces.text(), "")
  }

  private hold(message: Message, piece: string): void {
    if (this.exceeded) return
    const bytes = utf8Bytes(stringifyJson(piece)) - '""'.length
    if (this.bytes + bytes > this.limit) {
      this.exceeded = true
      return
    }
    message.pieces.add(piece)
    message.bytes += bytes
    this.bytes += bytes
  }

  private find(id: string | undefined): Message {
    const message = (id === undefined ? undefined : this.byId.get(id)) ?? this.open(id)
    this.last = message
    return message
  }

  private open(id: string | undefined): Message {
    const message = { id, pieces: new Pieces(), bytes: 0 }
    this.messages.push(message)
    if (id !== undefined) this.byId.set(id, message)
    return message
  }
}
