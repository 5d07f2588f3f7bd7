import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** The last line of stderr, whatever the outcome: a failure, a value or an interruption. */
export interface Interface {
  /** Replaces the line; without a line feed. */
  readonly set: (line: string) => Effect.Effect<void>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/cli/Footer") {}

export * as Footer from "./Footer.ts"
