import type { Diagnostic } from "./Diagnostic.ts"
import { type HealOptions, heal } from "./Heal.ts"
import { type Compilation, type CompileOptions, compile } from "./Runlet.ts"

/** A compilation and the source it is of: the given one, or what healing made of it. */
export interface Repaired {
  readonly source: string
  /** What healing did, `line N: …`; empty when nothing had to be done. To be shown as warnings. */
  readonly notes: ReadonlyArray<string>
  readonly compilation: Compilation
}

/**
 * Compiles a source, healing it first when it does not parse. The healed source is checked like any other: its diagnostics and warnings,
 * such as a construct that is never used, are those of the text in `source`. Unless healing brings it to parse the diagnostics are those
 * of the source as given.
 */
export const compileRepairing = (source: string, options: CompileOptions & HealOptions = {}): Repaired => {
  const compilation = compile(source, options)
  if (compilation.ok || !compilation.diagnostics.some((diagnostic: Diagnostic) => diagnostic.phase === "parse"))
    return { source, notes: [], compilation }
  const healed = heal(source, options)
  if (healed === null) return { source, notes: [], compilation }
  return { source: healed.source, notes: healed.notes, compilation: compile(healed.source, options) }
}
