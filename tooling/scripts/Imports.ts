/** One import or re-export of a source file. */
export interface Import {
  /** As it is written. */
  readonly specifier: string
  /** Erased before the program runs. */
  readonly typeOnly: boolean
  /** `import()`: resolved when the call runs, not when the module loads. */
  readonly dynamic: boolean
  /** Starts at 1. */
  readonly line: number
}

const clause = String.raw`(?:\*(?:\s*as\s+\w+)?|\{[^}]*\}|\w+(?:\s*,\s*(?:\{[^}]*\}|\*\s*as\s+\w+))?)`
const statement = new RegExp(String.raw`^(?:import|export)(\s+type)?\s+(?:${clause}\s+from\s*)?"([^"\n]+)"`, "gm")
const call = /\bimport\(\s*"([^"\n]+)"/g

/** The imports of a TypeScript module that a formatter has been over: statements start their line, specifiers are in double quotes. */
export const importsOf = (source: string): ReadonlyArray<Import> => {
  const lineAt = (index: number) => source.slice(0, index).split("\n").length
  const statements = [...source.matchAll(statement)].map((match) => ({
    specifier: match[2] as string,
    typeOnly: match[1] !== undefined,
    dynamic: false,
    line: lineAt(match.index),
  }))
  const calls = [...source.matchAll(call)]
    .filter((match) => !/^\s*(?:\*|\/\/)/.test(source.slice(source.lastIndexOf("\n", match.index) + 1)))
    .map((match) => ({ specifier: match[1] as string, typeOnly: false, dynamic: true, line: lineAt(match.index) }))
  return [...statements, ...calls]
}

/** `effect` of `effect/Effect`, `@acp-kit/store` of `@acp-kit/store/Log`; undefined for a relative path or a module of the runtime. */
export const packageOf = (specifier: string): string | undefined => {
  if (specifier.startsWith(".") || specifier.startsWith("node:") || specifier.startsWith("bun:")) return undefined
  const parts = specifier.split("/")
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]
}
