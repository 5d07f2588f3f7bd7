import { type Blocks, textOf } from "./Item.ts"

const longest = 80

/** A title from the first prompt of a session: its text on one line, at most 80 characters; `undefined` where it has none. */
export const titleOf = (content: Blocks): string | undefined => {
  const line = textOf(content)
    .slice(0, 1000)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
  const characters = Array.from(line)
  if (characters.length <= longest) return line === "" ? undefined : line
  return `${characters
    .slice(0, longest - 1)
    .join("")
    .trimEnd()}…`
}

export * as Titles from "./Title.ts"
