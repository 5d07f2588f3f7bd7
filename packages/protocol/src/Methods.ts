import type * as V2 from "@agentclientprotocol/sdk/experimental/v2/unstable"
import type * as V1 from "@agentclientprotocol/sdk/unstable"
import type { Json, JsonObject } from "./Json.ts"
import type { OpenOptions } from "./Session.ts"

type Version = 1 | 2

const v1Identity = (info: { readonly name: string; readonly version: string }) =>
  ({
    clientInfo: { name: info.name, version: info.version },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    },
  }) satisfies Omit<V1.InitializeRequest, "protocolVersion">

/**
 * Parameters of `initialize`. An offer of 2 is one request that both generations understand: each reads its own keys. Neither
 * filesystem nor terminal nor elicitation is advertised (S113, decision 14); notices, compaction and boolean options are.
 */
export const initialize = (info: { readonly name: string; readonly version: string }, offer: Version): JsonObject =>
  offer === 1
    ? ({ protocolVersion: 1, ...v1Identity(info) } satisfies V1.InitializeRequest)
    : {
        ...({
          protocolVersion: 2,
          info: { name: info.name, version: info.version },
          capabilities: {},
        } satisfies V2.InitializeRequest),
        ...v1Identity(info),
      }

const folders = (options: OpenOptions): { cwd: string; mcpServers: Array<never>; additionalDirectories?: Array<string> } => ({
  cwd: options.cwd,
  mcpServers: [...(options.mcpServers ?? [])] as Array<never>,
  ...(options.additionalDirectories !== undefined && options.additionalDirectories.length > 0
    ? { additionalDirectories: [...options.additionalDirectories] }
    : {}),
  ...(options.meta === undefined ? {} : { _meta: options.meta }),
})

/** Parameters of `session/new`; `mcpServers` is always there, v1 requires it. */
export const newSession = (options: OpenOptions): JsonObject =>
  folders(options) satisfies V1.NewSessionRequest satisfies V2.NewSessionRequest

/** Parameters of `session/fork`, unstable on both versions. */
export const fork = (sessionId: string, options: OpenOptions): JsonObject =>
  ({ sessionId, ...folders(options) }) satisfies V1.ForkSessionRequest satisfies V2.ForkSessionRequest

/** Method and parameters by which a session of the past is attached with its history (S104). */
export const attach = (
  version: Version,
  sessionId: string,
  options: OpenOptions,
): readonly [method: string, params: JsonObject] =>
  version === 1
    ? ["session/load", { sessionId, ...folders(options) } satisfies V1.LoadSessionRequest]
    : ["session/resume", { sessionId, ...folders(options), replayFrom: { type: "start" } } satisfies V2.ResumeSessionRequest]

/** Parameters of `session/prompt`; the blocks go out as they are. */
export const prompt = (sessionId: string, blocks: ReadonlyArray<Json>): JsonObject => ({ sessionId, prompt: blocks })

/** Parameters of `session/inject` with mode `steer`; outside every released schema. */
export const steer = (sessionId: string, blocks: ReadonlyArray<Json>): JsonObject => ({
  sessionId,
  mode: "steer",
  content: blocks,
})

/** Parameters of `session/set_config_option`; v2 names the type of every value, v1 of booleans only. */
export const setOption = (version: Version, sessionId: string, configId: string, value: string | boolean): JsonObject => {
  if (typeof value === "boolean") {
    return {
      sessionId,
      configId,
      type: "boolean",
      value,
    } satisfies V1.SetSessionConfigOptionRequest satisfies V2.SetSessionConfigOptionRequest
  }
  return version === 1
    ? ({ sessionId, configId, value } satisfies V1.SetSessionConfigOptionRequest)
    : ({ sessionId, configId, type: "id", value } satisfies V2.SetSessionConfigOptionRequest)
}

/** Parameters of `session/list`. */
export const list = (options: { readonly cwd?: string; readonly cursor?: string }): JsonObject =>
  ({
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
  }) satisfies V1.ListSessionsRequest satisfies V2.ListSessionsRequest

export * as Methods from "./Methods.ts"
