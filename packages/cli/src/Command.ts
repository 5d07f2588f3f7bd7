import type * as Effect from "effect/Effect"
import type { CommandFailed } from "./CommandFailed.ts"
import type { Flag, Parameter } from "./Flag.ts"
import type { ExitCode, Services } from "./Services.ts"

type ValueOf<T> = T extends Flag<infer A> ? A : T extends Parameter<infer A> ? A : never
type Values<T> = { readonly [K in keyof T]: ValueOf<T[K]> }

/** What a command gets: each parameter and each flag under its own name, already read. */
export interface Input<P, F> {
  readonly parameters: Values<P>
  readonly flags: Values<F>
  /** The file that `--config` names, as typed. */
  readonly config: string | undefined
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>
export type Flags = Readonly<Record<string, Flag<unknown>>>

/** One thing that `kit` does. Help, reference, completions and parsing are all made from it. */
export interface Command {
  readonly kind: "command"
  readonly name: string
  /** One line without a full stop. */
  readonly summary: string
  /** Paragraphs of the long help. */
  readonly details: ReadonlyArray<string>
  readonly parameters: Parameters
  readonly flags: Flags
  /** Names of flags and parameters of which at most one may stand. */
  readonly exclusive: ReadonlyArray<ReadonlyArray<string>>
  readonly examples: ReadonlyArray<Example>
  readonly run: (input: Input<Parameters, Flags>) => Effect.Effect<ExitCode, CommandFailed, Services>
}

/** A line to type after `kit`, and what it does. */
export interface Example {
  readonly line: string
  readonly does: string
}

/** A word that only leads to other words: `kit harness`. */
export interface Group {
  readonly kind: "group"
  readonly name: string
  readonly summary: string
  readonly members: ReadonlyArray<Entry>
}

export type Entry = Command | Group

interface Definition<P extends Parameters, F extends Flags> {
  readonly name: string
  readonly summary: string
  readonly details?: ReadonlyArray<string>
  readonly parameters?: P
  readonly flags?: F
  readonly exclusive?: ReadonlyArray<ReadonlyArray<(keyof P & string) | (keyof F & string)>>
  readonly examples?: ReadonlyArray<Example>
  readonly run: (input: Input<P, F>) => Effect.Effect<ExitCode, CommandFailed, Services>
}

/** Makes a command whose `run` sees its own parameters and flags with their types. */
export const command = <const P extends Parameters, const F extends Flags>(definition: Definition<P, F>): Command => ({
  kind: "command",
  name: definition.name,
  summary: definition.summary,
  details: definition.details ?? [],
  parameters: definition.parameters ?? {},
  flags: definition.flags ?? {},
  exclusive: definition.exclusive ?? [],
  examples: definition.examples ?? [],
  run: (input) => definition.run(input as Input<P, F>),
})

/** Makes a word that leads to `members`. */
export const group = (name: string, summary: string, members: ReadonlyArray<Entry>): Group => ({
  kind: "group",
  name,
  summary,
  members,
})
