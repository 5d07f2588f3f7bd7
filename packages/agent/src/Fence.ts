import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The options of an info string, by key: `runlet background=5 intent="list files"`. A key without a value is `true`. */
export type Options = Readonly<Record<string, string | number | boolean>>

/** One fenced code block: its language, the options behind it, and the lines between the fences. */
export interface Fence {
  readonly language: string
  readonly options: Options
  readonly body: string
}

const opening = /^(`{3,})([^`\r\n]*)$/

/**
 * The fenced blocks of a text, in order. A fence opens and closes at the start of a line with three or more backticks; the
 * closing one has at least as many, so that a block may hold fences of its own. A block that never closes is not one.
 */
export const fences = (text: string): ReadonlyArray<Fence> => {
  const lines = text.split(/\r?\n/)
  const found: Array<Fence> = []
  let unclosed = Number.POSITIVE_INFINITY
  for (let at = 0; at < lines.length; at++) {
    const open = opening.exec(lines[at]!)
    const length = open?.[1]?.length ?? 0
    if (open === null || length >= unclosed) continue
    const close = lines.findIndex((line, index) => index > at && closes(line, length))
    if (close === -1) {
      unclosed = length
      continue
    }
    found.push({ ...parseInfo(open[2]!), body: lines.slice(at + 1, close).join("\n") })
    at = close
  }
  return found
}

const closes = (line: string, length: number) => /^`{3,}[ \t]*$/.test(line) && line.trimEnd().length >= length

const option = /([\w-]+)(?:=("(?:[^"\\]|\\.)*"|\S+))?/g

const parseInfo = (info: string) => {
  const trimmed = info.trim()
  const language = /^\S*/.exec(trimmed)![0]
  const options = [...trimmed.slice(language.length).matchAll(option)].map(([, key, value]) => [key!, parseValue(value)] as const)
  return { language, options: Object.fromEntries(options) }
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])))

const parseValue = (text: string | undefined) => (text === undefined ? true : Option.getOrElse(decode(text), () => text))

export * as Fences from "./Fence.ts"
