import { isJsonObject } from "@acp-kit/protocol/Json"
import type { ProtocolError } from "@acp-kit/protocol/ProtocolError"
import { looksSecret } from "@acp-kit/store/AgentLaunchSpec"
import { marker } from "@acp-kit/store/Redaction"

/** What of a text is looked at, in characters; what comes behind it is never shown. */
const readCharacters = 16_384

/** What of a text is shown, in characters. */
const shownCharacters = 500

/** A shorter value stands in too many words that are no secret. */
const secretCharacters = 6

/** Makes a child's words fit for a message of ours: on one line, of at most 500 characters, without the secrets of its environment. */
export type Quote = (words: string) => string

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const escaped = (character: string): string => {
  const plain = JSON.stringify(character).slice(1, -1)
  return plain === character ? `\\u${character.codePointAt(0)!.toString(16).padStart(4, "0")}` : plain
}

/** A text on one line: what does not print is escaped. */
export const printable = (text: string): string => text.replace(unprintable, escaped)

/** `env` is the child's whole environment; what is secret of it says the name of the variable, or `marked` does. */
export const quoting = (env: Readonly<Record<string, string>>, marked: ReadonlyArray<string> = []): Quote => {
  const isSecret = (name: string) => name !== "PWD" && (marked.includes(name) || looksSecret(name))
  const secrets = Object.entries(env)
    .flatMap(([name, value]) => (isSecret(name) && value.length >= secretCharacters ? [value] : []))
    .sort((left, right) => right.length - left.length)
  return (words) => {
    let text = words.slice(0, readCharacters)
    for (const secret of secrets) text = text.replaceAll(secret, marker)
    const cut = text.length > shownCharacters || words.length > readCharacters
    return printable(text.slice(0, shownCharacters).trim()) + (cut ? "…" : "")
  }
}

/** What an error answer says, besides its code; empty where it says nothing. */
export const wordsOf = ({ message, data }: ProtocolError.RpcError): string => {
  const more = isJsonObject(data) ? (data.details ?? data.message) : data
  return [message, ...(typeof more === "string" && more !== message ? [more] : [])]
    .filter((part) => part.trim() !== "")
    .join(": ")
}

export * as ChildWords from "./ChildWords.ts"
