import { quote } from "@acp-kit/runlet/Canonical"
import type { Json } from "@acp-kit/runlet/Host"
import { compareText } from "@acp-kit/runlet/Value"

/** The canonical text of a JSON value: compact, keys sorted by UTF-8 bytes, integers exact. */
export const encode = (value: Json): string => {
  if (typeof value === "string") return quote(value)
  if (value === null || typeof value !== "object") return String(value)
  if (Array.isArray(value)) return `[${value.map(encode).join(",")}]`
  const entries = Object.entries(value as Readonly<Record<string, Json>>).sort(([left], [right]) => compareText(left, right))
  return `{${entries.map(([key, item]) => `${quote(key)}:${encode(item)}`).join(",")}}`
}

export * as CompactJson from "./CompactJson.ts"
