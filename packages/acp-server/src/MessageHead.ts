import { parseJson } from "@acp-kit/protocol/Json"

const member = /\s*("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+|true|false|null)\s*,/y

/**
 * The id of the request that a text begins with, where it stands, and a method with it, before anything that is no plain value; `undefined` where
 * that cannot be told.
 */
export const requestIdIn = (head: string): string | number | bigint | undefined => {
  const open = /^\s*\{/.exec(head)
  if (open === null) return undefined
  const found = new Map<unknown, unknown>()
  member.lastIndex = open[0].length
  for (let pair = member.exec(head); pair !== null; pair = member.exec(head)) found.set(parseJson(pair[1]!), parseJson(pair[2]!))
  const id = found.get("id")
  if (typeof found.get("method") !== "string") return undefined
  return typeof id === "string" || typeof id === "number" || typeof id === "bigint" ? id : undefined
}
