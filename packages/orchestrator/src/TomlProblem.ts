import { TomlError } from "smol-toml"
import { ChildWords } from "./ChildWords.ts"

/** What is shown of a line, in characters. */
const shownCharacters = 80

/** What the parser says, in words that fit where `rest`, what stands there and behind it on its line, says more. */
const wordsOf = (said: string, rest: string): string => {
  if (said === "illegal character in key")
    return rest === ""
      ? "the line ends within a key"
      : `${said}: what holds more than A-Z a-z 0-9 _ - stands in quotes, as in [acp."my agent"]`
  if (said === "control characters are not allowed in strings" && rest === "") return "the string is not closed on its line"
  if (said === "invalid value") return rest === "" ? "there is no value" : "invalid value: a text stands in quotes"
  return said
}

/** What is wrong with a document that is no TOML, in one line that shows the offending one. */
export const explain = (source: string, cause: unknown): string => {
  if (!(cause instanceof TomlError)) return cause instanceof Error ? cause.message : "unreadable"
  const { message, line, column } = cause
  const written = (source.split("\n")[line - 1] ?? "").replace(/\r$/, "")
  const said = message.split("\n")[0]!.replace(/^Invalid TOML document: /, "")
  const from = column > shownCharacters ? column - 1 - shownCharacters / 2 : 0
  const shown = written.slice(from, from + shownCharacters)
  const more = from + shownCharacters < written.length ? "…" : ""
  const words = wordsOf(said, written.slice(column - 1).trim())
  return shown.trim() === "" ? words : `${words}, at: ${from > 0 ? "…" : ""}${ChildWords.printable(shown.trim())}${more}`
}

export * as TomlProblem from "./TomlProblem.ts"
