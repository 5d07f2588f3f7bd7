import type { Problem } from "./ConfigProblem.ts"
import { nearest } from "./Nearest.ts"
import { lineOf, type TomlLines } from "./TomlLines.ts"

export type Table = Readonly<Record<string, unknown>>

const bare = /^[A-Za-z0-9_-]+$/

/** `subagent.harnesses."acp.claude".models` */
export const dotted = (path: ReadonlyArray<string>): string =>
  path.map((part) => (bare.test(part) ? part : JSON.stringify(part))).join(".")

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)

/** What reading a configuration finds: errors refuse the file, warnings do not. */
export class Findings {
  readonly errors: Array<Problem> = []
  readonly warnings: Array<Problem> = []
  readonly #lines: TomlLines

  constructor(lines: TomlLines) {
    this.#lines = lines
  }

  #problem(path: ReadonlyArray<string>, message: string, more: Partial<Problem>): Problem {
    const line = lineOf(this.#lines, path)
    return {
      code: "CONFIG",
      ...(path.length > 0 ? { key: dotted(path) } : {}),
      ...(line === undefined ? {} : { line }),
      message,
      ...more,
    }
  }

  error(path: ReadonlyArray<string>, message: string, more: Partial<Problem> = {}): void {
    this.errors.push(this.#problem(path, message, more))
  }

  warning(path: ReadonlyArray<string>, message: string, more: Partial<Problem> = {}): void {
    this.warnings.push(this.#problem(path, message, more))
  }

  /** Warns of each key of `table` that is not known, with the nearest that is (decision 17). */
  unknownKeys(table: Table, path: ReadonlyArray<string>, known: ReadonlyArray<string>): void {
    for (const key of Object.keys(table)) {
      if (known.includes(key)) continue
      const close = nearest(key, known)
      this.warning([...path, key], "unknown key", close === undefined ? {} : { nearest: close })
    }
  }

  /** A misspelt key of `table` that may have been meant as `key`, as a hint for an error about its absence. */
  misspelt(
    table: Table,
    path: ReadonlyArray<string>,
    key: string,
    known: ReadonlyArray<string>,
  ): { at: ReadonlyArray<string>; more: Partial<Problem> } {
    const written = Object.keys(table).find((other) => !known.includes(other) && nearest(other, known) === key)
    return written === undefined ? { at: path, more: {} } : { at: [...path, written], more: { nearest: key } }
  }

  table(parent: Table, path: ReadonlyArray<string>): Table | undefined {
    const key = path.at(-1)!
    if (!(key in parent)) return undefined
    const value = parent[key]
    if (isTable(value)) return value
    this.error(path, "must be a table")
    return undefined
  }

  string(table: Table, path: ReadonlyArray<string>): string | undefined {
    const value = table[path.at(-1)!]
    if (value === undefined) return undefined
    if (typeof value === "string" && value.trim() !== "") return value
    this.error(path, "must be a non-empty string")
    return undefined
  }

  strings(table: Table, path: ReadonlyArray<string>): ReadonlyArray<string> | undefined {
    const value = table[path.at(-1)!]
    if (value === undefined) return undefined
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value
    this.error(path, "must be an array of strings")
    return undefined
  }

  oneOf<const A extends ReadonlyArray<string>>(table: Table, path: ReadonlyArray<string>, choices: A): A[number] | undefined {
    const value = table[path.at(-1)!]
    if (value === undefined) return undefined
    if (typeof value === "string" && choices.includes(value)) return value
    const close = typeof value === "string" ? nearest(value, choices) : undefined
    this.error(
      path,
      `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`,
      close === undefined ? {} : { nearest: close },
    )
    return undefined
  }

  /** A positive number. */
  positive(table: Table, path: ReadonlyArray<string>, whole: boolean): number | undefined {
    const value = table[path.at(-1)!]
    if (value === undefined) return undefined
    if (typeof value === "number" && Number.isFinite(value) && value > 0 && (!whole || Number.isInteger(value))) return value
    this.error(path, `must be a positive ${whole ? "whole number" : "number"}`)
    return undefined
  }
}
