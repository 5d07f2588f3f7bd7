import { isJsonObject, type Json, type JsonObject } from "./Json.ts"

/**
 * What the agent advertised, one model over both versions, read from the raw answer to `initialize`.
 * On v2 an advertised `session` implies `close`, `load` and `list`.
 */
export interface Capabilities {
  readonly version: 1 | 2
  /** Prompt blocks that the agent takes (S03, S04). */
  readonly image: boolean
  readonly audio: boolean
  readonly embeddedContext: boolean
  readonly fork: boolean
  readonly close: boolean
  readonly delete: boolean
  /** `session/load` on v1, `session/resume` with replay on v2 (S104). */
  readonly load: boolean
  readonly list: boolean
  readonly additionalDirectories: boolean
  /** `session/inject` with mode `steer`; never on v1 (S31, decision 13). */
  readonly steer: boolean
  /** MCP servers that the agent accepts. */
  readonly mcp: { readonly stdio: boolean; readonly http: boolean; readonly sse: boolean }
  /** The capability object as it arrived, nothing dropped. */
  readonly raw: JsonObject
}

const none: JsonObject = {}
const object = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : none)

/** v1 mixes booleans and markers, v2 has markers only: anything but absent, null and false counts. */
const has = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== false

const steers = (inject: Json | undefined): boolean => {
  const modes = object(inject).modes
  return Array.isArray(modes) && modes.includes("steer")
}

const readV1 = (raw: JsonObject): Capabilities => {
  const prompt = object(raw.promptCapabilities)
  const session = object(raw.sessionCapabilities)
  const mcp = object(raw.mcpCapabilities)
  return {
    version: 1,
    image: has(prompt.image),
    audio: has(prompt.audio),
    embeddedContext: has(prompt.embeddedContext),
    fork: has(session.fork),
    close: has(session.close),
    delete: has(session.delete),
    load: has(raw.loadSession),
    list: has(session.list),
    additionalDirectories: has(session.additionalDirectories),
    steer: false,
    mcp: { stdio: true, http: has(mcp.http), sse: has(mcp.sse) },
    raw,
  }
}

const readV2 = (raw: JsonObject): Capabilities => {
  const baseline = has(raw.session)
  const session = object(raw.session)
  const prompt = object(session.prompt)
  const mcp = object(session.mcp)
  return {
    version: 2,
    image: has(prompt.image),
    audio: has(prompt.audio),
    embeddedContext: has(prompt.embeddedContext),
    fork: has(session.fork),
    close: baseline,
    delete: has(session.delete),
    load: baseline,
    list: baseline,
    additionalDirectories: has(session.additionalDirectories),
    steer: steers(session.inject),
    mcp: { stdio: has(mcp.stdio), http: has(mcp.http), sse: false },
    raw,
  }
}

/** Reads the capabilities out of an `initialize` answer of the negotiated version. Everything is optional (R4). */
export const readCapabilities = (version: 1 | 2, initialized: JsonObject): Capabilities =>
  version === 1 ? readV1(object(initialized.agentCapabilities)) : readV2(object(initialized.capabilities))

const maximumIds = 16
const visible = /^[\x21-\x7e]{1,128}$/

/** What of a list may be shown as login methods: visible ASCII, 1 to 128 bytes, without doubles, sorted, at most 16. */
export const methodIds = (candidates: ReadonlyArray<Json | undefined>): ReadonlyArray<string> =>
  [...new Set(candidates.filter((id): id is string => typeof id === "string" && visible.test(id)))].slice(0, maximumIds).sort()

/** The login methods of an `initialize` answer: `id` on v1, `methodId` on v2 (S123). */
export const advertisedMethodIds = (initialized: JsonObject): ReadonlyArray<string> =>
  Array.isArray(initialized.authMethods)
    ? methodIds(
        initialized.authMethods.map((method: Json) => (isJsonObject(method) ? (method.methodId ?? method.id) : undefined)),
      )
    : []
