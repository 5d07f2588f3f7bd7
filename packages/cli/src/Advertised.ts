import type { Json, JsonObject } from "@acp-kit/runlet/Host"

const used: Readonly<Record<1 | 2, ReadonlyArray<string>>> = {
  1: [
    "loadSession",
    "promptCapabilities.image",
    "promptCapabilities.audio",
    "promptCapabilities.embeddedContext",
    "mcpCapabilities.http",
    "mcpCapabilities.sse",
    "sessionCapabilities.list",
    "sessionCapabilities.close",
    "sessionCapabilities.delete",
    "sessionCapabilities.fork",
    "sessionCapabilities.additionalDirectories",
  ],
  2: [
    "session.prompt.image",
    "session.prompt.audio",
    "session.prompt.embeddedContext",
    "session.mcp.stdio",
    "session.mcp.http",
    "session.delete",
    "session.fork",
    "session.additionalDirectories",
    "session.inject",
  ],
}

const deepest = 4

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const leaves = (value: JsonObject, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key]
    if (inner === false || inner === null) return []
    return isObject(inner) && Object.keys(inner).length > 0 && at.length < deepest ? leaves(inner, at) : [at.join(".")]
  })

/** What a harness advertises beyond what Kit can use, as dotted paths into its capability object of that version, at most four deep. */
export const unused = (version: 1 | 2, capabilities: JsonObject): ReadonlyArray<string> =>
  leaves(capabilities, []).filter(
    (path) => path !== "session" && !used[version].some((known) => path === known || path.startsWith(`${known}.`)),
  )

export * as Advertised from "./Advertised.ts"
