import type { JsonObject } from "./Json.ts"

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
  /** MCP servers that the agent accepts besides stdio; on v2 also whether it takes stdio ones. */
  readonly mcp: { readonly stdio: boolean; readonly http: boolean; readonly sse: boolean }
  /** The capability object as it arrived, nothing dropped. */
  readonly raw: JsonObject
}
