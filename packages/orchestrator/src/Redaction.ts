import type { Json, JsonObject } from "@acp-kit/runlet/Host"

/** What stands in place of a secret in `wire.log`. */
export const marker = "[redacted]"

/** The JSON-RPC error code of `auth_required`. */
export const authRequired = -32_000

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const hideValues = (entries: Json | undefined): Json | undefined => {
  if (Array.isArray(entries))
    return entries.map((entry) => (isObject(entry) && "value" in entry ? { ...entry, value: marker } : entry))
  return isObject(entries) ? Object.fromEntries(Object.keys(entries).map((name) => [name, marker])) : entries
}

const hideServer = (server: Json): Json => {
  if (!isObject(server)) return server
  const { env, headers } = server
  return {
    ...server,
    ...(env === undefined ? {} : { env: hideValues(env) ?? marker }),
    ...(headers === undefined ? {} : { headers: hideValues(headers) ?? marker }),
  }
}

const hideError = (error: JsonObject): JsonObject => ({
  ...error,
  ...("message" in error ? { message: marker } : {}),
  ...("data" in error ? { data: marker } : {}),
})

/** A frame as `wire.log` may hold it (K04): the text and data of an authentication error, and the values of MCP `env` and headers, are replaced by a marker. */
export const redact = (frame: Json): Json => {
  if (!isObject(frame)) return frame
  const { error, params } = frame
  if (isObject(error) && error.code === authRequired) return { ...frame, error: hideError(error) }
  if (isObject(params) && Array.isArray(params.mcpServers)) {
    return { ...frame, params: { ...params, mcpServers: params.mcpServers.map(hideServer) } }
  }
  return frame
}

export * as Redaction from "./Redaction.ts"
