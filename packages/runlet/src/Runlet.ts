import type * as Effect from "effect/Effect"
import type { Diagnostic } from "./Diagnostic.ts"
import type { Input, Limits, Tool } from "./Host.ts"
import type { RunletError } from "./RunletError.ts"
import type { Value } from "./Value.ts"

/** What a source is compiled against. */
export interface CompileOptions {
  /** Duplicate names: the last wins. A tool wins over a function of the prelude. */
  readonly tools?: ReadonlyArray<Tool>
  readonly inputs?: ReadonlyArray<Input>
  /** The 28 functions of the standard library; true by default. */
  readonly prelude?: boolean
  readonly limits?: Partial<Limits>
}

/** A compiled source; run it as often as needed. */
export interface Program {
  readonly source: string
}

/** Either a program with its warnings, or everything that is wrong, errors and warnings in source order. */
export type Compilation =
  | { readonly ok: true; readonly program: Program; readonly warnings: ReadonlyArray<Diagnostic> }
  | { readonly ok: false; readonly diagnostics: ReadonlyArray<Diagnostic> }

export interface RunOptions {
  readonly limits?: Partial<Limits>
}

/** Source to program. Pure and synchronous; calls no tool; never throws. */
export declare const compile: (source: string, options?: CompileOptions) => Compilation

/** Runs a program. Interruption reaches every running tool, and the effect ends when all of them have ended. */
export declare const run: (program: Program, options?: RunOptions) => Effect.Effect<Value, RunletError>
