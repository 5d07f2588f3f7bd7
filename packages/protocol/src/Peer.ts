import type { Capabilities } from "./Capabilities.ts"
import type { Connection } from "./Connection.ts"
import type { Limits } from "./Limits.ts"
import type { Routes } from "./Routes.ts"

/** What the sessions of one connection share. */
export interface Peer {
  readonly connection: Connection
  readonly routes: Routes
  readonly capabilities: Capabilities
  readonly limits: Limits
}
