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

/** What another language would have meant at the place of an error. */
export const rewrite = (source: string, { code, message, span }: Draft): Edit | undefined => {
  if (code === "RL1008") return message.includes("`=` after the binding name") ? declared(source, span.start) : undefined
  if (code !== "RL1001") return undefined
  const at = span.start
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
