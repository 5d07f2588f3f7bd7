import { parseJson } from "@acp-kit/protocol/Json"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Result from "effect/Result"

/** The head of a Markdown file and what follows it. */
export interface FrontMatter {
  readonly head: JsonObject
  /** Where each key of the head stands, 1-based. */
  readonly lines: ReadonlyMap<string, number>
  readonly body: string
}

/** Why a head cannot be read; `line` is 1-based. */
export interface Unreadable {
  readonly line: number
  readonly why: string
}

const scalar = (text: string): Json | undefined => {
  if (/^["[{]/.test(text)) return parseJson(text)
  if (text.startsWith("'")) return text.endsWith("'") && text.length > 1 ? text.slice(1, -1).replaceAll("''", "'") : undefined
  const plain = text.replace(/\s+#.*$/, "")
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(plain)) return parseJson(plain)
  return plain
}

interface Line {
  readonly number: number
  readonly indent: number
  readonly text: string
}

const entry = /^([A-Za-z0-9_-]+):(?:\s+(.*))?$/

/** The lines below a key without a value: a list of `- item`, or one level of `key: value`. */
const nested = (lines: ReadonlyArray<Line>): Result.Result<Json, Unreadable> => {
  if (lines.every((line) => line.text.startsWith("- "))) {
    const items: Array<Json> = []
    for (const { number, text } of lines) {
      const value = scalar(text.slice(2).trim())
      if (value === undefined) return Result.fail({ line: number, why: "not a value" })
      items.push(value)
    }
    return Result.succeed(items)
  }
  const map: Record<string, Json> = {}
  for (const { number, text } of lines) {
    const match = entry.exec(text)
    const value = match?.[2] === undefined ? undefined : scalar(match[2].trim())
    if (match === null || value === undefined) return Result.fail({ line: number, why: "not a `key: value` line" })
    map[match[1]!] = value
  }
  return Result.succeed(map)
}

const readHead = (lines: ReadonlyArray<Line>): Result.Result<Omit<FrontMatter, "body">, Unreadable> => {
  const head: Record<string, Json> = {}
  const places = new Map<string, number>()
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const match = entry.exec(line.text)
    if (match === null || line.indent > 0) return Result.fail({ line: line.number, why: "not a `key: value` line" })
    const [, key, text] = match
    if (places.has(key!)) return Result.fail({ line: line.number, why: `${key} is set twice` })
    places.set(key!, line.number)
    const below = lines.slice(at + 1)
    const end = below.findIndex((other) => other.indent === 0 && !other.text.startsWith("- "))
    const inner = end < 0 ? below : below.slice(0, end)
    if (text !== undefined && text.trim() !== "") {
      const value = scalar(text.trim())
      if (value === undefined) return Result.fail({ line: line.number, why: "not a value" })
      head[key!] = value
    } else {
      const value = inner.length === 0 ? Result.succeed(null) : nested(inner)
      if (Result.isFailure(value)) return Result.fail(value.failure)
      head[key!] = value.success
      at += inner.length
    }
  }
  return Result.succeed({ head, lines: places })
}

/**
 * Splits a Markdown file with a head between two `---` lines. The head holds `key: value` lines: plain or quoted text, numbers, booleans, JSON on one
 * line, and one level of lists (`- item`) or maps below a key. A file without a head is all body.
 */
export const split = (source: string): Result.Result<FrontMatter, Unreadable> => {
  const lines = source.replace(/^\uFEFF/, "").split(/\r?\n/)
  if (lines[0]?.trim() !== "---") return Result.succeed({ head: {}, lines: new Map(), body: source })
  const end = lines.findIndex((line, at) => at > 0 && line.trim() === "---")
  if (end < 0) return Result.fail({ line: 1, why: "the head has no closing `---`" })
  const head = lines
    .slice(1, end)
    .map((text, at): Line => ({ number: at + 2, indent: text.length - text.trimStart().length, text: text.trim() }))
    .filter((line) => line.text !== "" && !line.text.startsWith("#"))
  return Result.map(readHead(head), (read) => ({
    ...read,
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  }))
}
