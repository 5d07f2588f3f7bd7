import type { Json } from "./Json.ts"

/**
 * One line of the wire with what is needed to file and redact it (K04). An element of a batch is a frame of its own.
 * A frame belongs to `sessionId` of its parameters; an answer belongs where its request went.
 */
export interface WireFrame {
  readonly direction: "in" | "out"
  /** Without the line feed. A line that is not UTF-8 stands with U+FFFD where it is not. */
  readonly line: string
  readonly kind: "request" | "notification" | "response" | "noise"
  /** Of an answer: the method it answers, absent where nothing is known to have been asked. */
  readonly method?: string
  /** As it stands on the wire; the two directions count on their own. */
  readonly id?: Json
  readonly sessionId?: string
  /** Of an answer to `session/new` or `session/fork`: the session it created. A fork's answer has `sessionId` (the source) too. */
  readonly createdSessionId?: string
  /** Set where `sessionId` is one that nobody here opened (an agent's own subagent): the opened session it belongs to. */
  readonly parentSessionId?: string
  /** Of an answer that is an error: its code. `-32000` marks an authentication error, whose text and data must not be kept. */
  readonly errorCode?: number
  /** The parsed frame, to redact without parsing again; absent for noise. */
  readonly message?: Json
}

/**
 * A line on the peer's stdout that is no JSON-RPC message, or an answer to nothing we asked. Never answered. `depth`: a message that nests
 * deeper than 256 levels; nothing of it is folded, an answer fails its call, a request is refused.
 */
export interface Noise {
  readonly why: "utf8" | "json" | "shape" | "batch" | "depth" | "stray"
  /** The beginning of the line, at most 512 characters. */
  readonly sample: string
}
