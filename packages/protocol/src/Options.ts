import type { Json, JsonObject } from "./Json.ts"

/** One session configuration option, the same for both versions (`id` on v1, `configId` on v2). */
export interface ConfigOption {
  readonly id: string
  readonly name: string | undefined
  readonly category: string | undefined
  /** `select`, `boolean`, or what the agent invented. */
  readonly type: string
  readonly currentValue: Json | undefined
  /** Choices of a select in their order, groups flattened. */
  readonly values: ReadonlyArray<string>
  readonly raw: JsonObject
}
