import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Json, JsonObject } from "./Host.ts"

/** A call as it is known across attempts and runs. */
export interface Operation {
  /** SHA-256 in hexadecimal of where and with what the call was made: source, tool and its schema version, place, loop path, arguments. */
  readonly id: string
  readonly tool: string
  readonly schemaVersion: string
}

/** How a call settled. A failure is recorded as the tool reported it, before the policy is applied. */
export type Settlement =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false
      readonly code: string
      readonly message: string
      readonly retryable: boolean
      readonly uncertain: boolean
      readonly details: JsonObject
    }

/**
 * What a run remembers about its calls. Calls of the prelude are never asked about. For one call: `lookup`, then unless that answers
 * `dispatching`, the call, `record`. A call that is interrupted is not recorded: it was dispatched, and nobody knows more.
 */
export interface Journal {
  /** May answer a call instead of dispatching it. */
  readonly lookup: (operation: Operation) => Effect.Effect<Option.Option<Settlement>>
  /** Completes before the call is dispatched for the `generation`-th time, counted from 0. */
  readonly dispatching: (operation: Operation, generation: number) => Effect.Effect<void>
  /** Is offered every call that settled, which completes after it. */
  readonly record: (operation: Operation, settlement: Settlement) => Effect.Effect<void>
}

/** Remembers successes for the time of one run: a retried boundary does not repeat what it has achieved. */
export const memory = (): Journal => {
  const settled = new Map<string, Settlement>()
  return {
    lookup: (operation) => Effect.sync(() => Option.fromUndefinedOr(settled.get(operation.id))),
    dispatching: () => Effect.void,
    record: (operation, settlement) =>
      Effect.sync(() => {
        if (settlement.ok) settled.set(operation.id, settlement)
      }),
  }
}

export * as Journals from "./Journal.ts"
