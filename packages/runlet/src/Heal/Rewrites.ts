import type { Draft } from "../Draft.ts"

/** A change to a source and what to say about it. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly note: string
}

const words: { readonly [mark: string]: readonly [text: string, note: string] } = {
  "&&": [" and ", "wrote `and` for `&&`"],
  "||": [" or ", "wrote `or` for `||`"],
  "!": ["not ", "wrote `not` for `!`"],
}

const singleQuoted = (source: string, at: number): Edit | undefined => {
  const found = /^'((?:[^'\\\n]|\\.)*)'/.exec(source.slice(at, at + 10_000))
  if (found === null) return undefined
  const inside = found[1]!.replace(/\\'|"/g, (part) => (part === '"' ? '\\"' : "'"))
  return { start: at, end: at + found[0].length, text: `"${inside}"`, note: "wrote the string in double quotes" }
}

const ternary = (source: string, at: number): Edit | undefined => {
  const start = source.lastIndexOf("\n", at) + 1
  const stop = source.indexOf("\n", at)
  const end = stop === -1 ? source.length : stop
  const found = /^(\s*(?:return\s|[\p{L}_][\p{L}\p{N}_]*\s*=(?!=))\s*)([^?]+?)\s*\?\s*([^?:]+?)\s*:\s*([^?:]+)$/u.exec(
    source.slice(start, end),
  )
  if (found === null) return undefined
  const [, head, condition, yes, no] = found
  return { start, end, text: `${head}${yes} if ${condition} else ${no}`, note: "wrote `a if c else b` for `c ? a : b`" }
}

const declared = (source: string, at: number): Edit | undefined => {
  const found = /\b(?:let|const|var)\s+$/.exec(source.slice(0, at))
  return found === null ? undefined : { start: found.index, end: at, text: "", note: "bindings need no keyword" }
}

const place = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[(?:\d+|"[^"\\]*")\])*$/u

/** The parts of a text with holes as a concatenation; undefined where a hole is more than a name with its fields. */
const joined = (inside: string, hole: RegExp): string | undefined => {
  const parts: Array<string> = []
  let from = 0
  const text = (to: number) => {
    if (to > from)
      parts.push(
        `"${inside
          .slice(from, to)
          .replace(/(?<!\\)((?:\\\\)*)"/g, '$1\\"')
          .replace(/\n/g, "\\n")}"`,
      )
  }
  for (const found of inside.matchAll(hole)) {
    const name = found[1]!.trim()
    if (!place.test(name)) return undefined
    text(found.index)
    if (parts.length === 0) parts.push('""')
    parts.push(name)
    from = found.index + found[0].length
  }
  text(inside.length)
  return parts.length < 2 ? (parts[0] ?? '""') : `(${parts.join(" + ")})`
}

/** `f"… {x} …"` of Python, its prefix in front of a string that has been read. */
const prefixed = (source: string, start: number, end: number): Edit | undefined => {
  const prefix = /(?<![\p{L}\p{N}_.])([fF])$/u.exec(source.slice(Math.max(0, start - 2), start))?.[1]
  const inside = source.slice(start + 1, end - 1)
  if (prefix === undefined || /\{\{|\}\}/.test(inside)) return undefined
  const text = joined(inside, /\{([^{}]*)\}/g)
  return text === undefined ? undefined : { start: start - 1, end, text, note: "joined the parts of the f-string with `+`" }
}

/** `` `… ${x} …` `` of JavaScript. */
const template = (source: string, at: number): Edit | undefined => {
  const found = /^`((?:[^`\\]|\\.)*)`/s.exec(source.slice(at, at + 10_000))
  const text = found === null ? undefined : joined(found[1]!.replace(/\\(?=[`$])/g, ""), /\$\{([^{}]*)\}/g)
  return text === undefined
    ? undefined
    : { start: at, end: at + found![0].length, text, note: "joined the parts of the template with `+`" }
}

const reescaped = ({ fixes: [fix] }: Draft): Edit | undefined =>
  fix === undefined || fix.guess === true
    ? undefined
    : { start: fix.span.start, end: fix.span.end, text: fix.replacement, note: "escaped what a string cannot hold" }

/** What another language would have meant at the place of an error. */
export const rewrite = (source: string, draft: Draft): Edit | undefined => {
  const { code, message, span } = draft
  const at = span.start
  if (code === "RL1003") return reescaped(draft)
  if ((code === "RL1008" || code === "RL1012") && source[at] === '"') return prefixed(source, at, span.end)
  if (code === "RL1008") return message.includes("`=` after the binding name") ? declared(source, at) : undefined
  if (code !== "RL1001") return undefined
  if (source[at] === "`") return template(source, at)
  if (source[at] === "'") return singleQuoted(source, at)
  if (source[at] === "?") return ternary(source, at)
  for (const [mark, [text, note]] of Object.entries(words)) {
    if (!source.startsWith(mark, at)) continue
    const before = /[ \t]*$/.exec(source.slice(0, at))![0].length
    const after = /^[ \t]*/.exec(source.slice(at + mark.length))![0].length
    const start = mark === "!" ? at : at - before
    return { start, end: at + mark.length + after, text, note }
  }
  return undefined
}
