import type { JsonObject } from "@acp-kit/runlet/Host"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { Item } from "./Item.ts"

/** A model request failed. Nothing of its stream enters the history when it is `retryable` and tried again. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  message: Schema.String,
  retryable: Schema.Boolean,
}) {}

/** `default` leaves the effort unset: the provider's own default applies (S93). */
export const efforts = ["default", "low", "medium", "high"] as const
export type Effort = (typeof efforts)[number]

export interface Model {
  /** What `--model` and the configuration option take. */
  readonly id: string
  readonly name: string
  /** Tokens of the context window. */
  readonly window: number
}

/** A tool as the model sees it. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the input object. */
  readonly input: JsonObject
}

export interface Request {
  /** Valid: no call is unanswered. */
  readonly items: ReadonlyArray<Item>
  /** The system prompt, empty for none. */
  readonly system: string
  readonly tools: ReadonlyArray<ToolSpec>
  readonly model: string
  readonly effort: Effort
  /** 0 for the first try of this request, then one more per retry. */
  readonly attempt: number
}

/**
 * Text and thinking come in pieces, a call comes whole and gets its id from the turn. Tokens of `usage` count the whole context so
 * far. `finish` says why the response ended; without it the model had no more to say.
 */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "call"; readonly name: string; readonly input: JsonObject }
  | { readonly type: "usage"; readonly used: number; readonly window: number }
  | { readonly type: "finish"; readonly reason: "max_tokens" | "refusal" }

export interface Interface {
  /** The name in the configuration, as in `provider = "scripted"`. */
  readonly name: string
  /** The models that can be chosen, the default first. */
  readonly models: readonly [Model, ...ReadonlyArray<Model>]
  /** One request. Interrupting the reader ends it. */
  readonly stream: (request: Request) => Stream.Stream<Part, ProviderError>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/agent/ModelProvider") {}

export * as ModelProvider from "./ModelProvider.ts"
