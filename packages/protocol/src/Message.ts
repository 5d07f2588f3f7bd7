import { methodIds } from "./Capabilities.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import { AuthRequired, RpcError } from "./ProtocolError.ts"

/** JSON-RPC codes that have a meaning here. */
export const codes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  cancelled: -32800,
  authRequired: -32000,
  unsupportedVersion: -32022,
} as const

/** What a JSON-RPC 2.0 object is; `undefined` for anything else. An id of null makes a request, no id a notification. */
export const shapeOf = (message: JsonObject): "request" | "notification" | "response" | undefined => {
  if (message.jsonrpc !== "2.0") return undefined
  if (typeof message.method === "string") return message.id === undefined ? "notification" : "request"
  return message.method === undefined && (message.result !== undefined || message.error !== undefined) ? "response" : undefined
}

/** The session that parameters name, if they do. */
export const sessionIdOf = (params: Json | undefined): string | undefined => {
  const id = isJsonObject(params) ? params.sessionId : undefined
  return typeof id === "string" ? id : undefined
}

/** The code of an error object; anything without a readable one counts as internal (R12). */
export const codeOf = (error: Json): number => {
  const given = isJsonObject(error) ? error.code : undefined
  const code = typeof given === "number" || (typeof given === "string" && given !== "") ? Number(given) : Number.NaN
  return Number.isInteger(code) ? code : codes.internal
}

/** The typed failure that an error answer means. An authentication error keeps method ids only (S123). */
export const faultOf = (method: string, error: Json, advertised: ReadonlyArray<string>): RpcError | AuthRequired => {
  const code = codeOf(error)
  const fields = isJsonObject(error) ? error : {}
  const data = fields.data
  if (code === codes.authRequired) {
    return new AuthRequired({ method, methodIds: methodIds([isJsonObject(data) ? data.methodId : undefined, ...advertised]) })
  }
  const message = typeof fields.message === "string" ? fields.message : typeof error === "string" ? error : ""
  return new RpcError({ method, code, message, data })
}
