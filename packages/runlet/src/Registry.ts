import { compileSchema, type Validator } from "@acp-kit/json-schema/JsonSchemas"
import * as Result from "effect/Result"
import type { JsonSchema, Policy, Tool } from "./Host.ts"
import type { Failed } from "./Outcome.ts"
import type { Run } from "./Run.ts"
import { readSchema } from "./SchemaTypes.ts"
import { any, type Type } from "./Types.ts"
import type { Value } from "./Value.ts"

/** A function of the prelude: pure, synchronous, failing without a place. */
export interface Intrinsic {
  readonly name: string
  readonly summary: string
  readonly parameters: ReadonlyArray<readonly [name: string, type: Type]>
  /** How many leading parameters are required. */
  readonly required: number
  readonly output: Type
  readonly apply: (args: ReadonlyArray<Value>, run: Run) => Value | Failed
}

/** A schema as calls use it: what the language checks and converts to, and the rest for the validator. */
export interface Port {
  readonly name: string
  readonly type: Type
  /** Present when the type says less than the schema. */
  readonly validator: Validator | undefined
  /** Why values cannot be checked against the schema. */
  readonly problem?: string
}

/** Whatever a program can call by name. */
export interface Callable {
  readonly name: string
  readonly summary: string
  readonly parameters: ReadonlyArray<Port>
  readonly required: number
  readonly output: Port
  readonly policy: Policy
  readonly schemaVersion: string
  readonly implementation: Tool | Intrinsic
}

export const isTool = (implementation: Tool | Intrinsic): implementation is Tool => "handler" in implementation

/** Reads a schema, and readies the validator for what its type leaves out. */
export const portOf = (name: string, schema: JsonSchema): Port => {
  const { type, exact } = readSchema(schema)
  if (exact) return { name, type, validator: undefined }
  const compiled = compileSchema(schema)
  return Result.isSuccess(compiled)
    ? { name, type, validator: compiled.success }
    : { name, type: any, validator: undefined, problem: compiled.failure.message }
}

const ofTool = (tool: Tool): Callable => ({
  name: tool.name,
  summary: tool.summary,
  parameters: tool.parameters.map((parameter) => portOf(parameter.name, parameter.schema)),
  required: tool.required ?? tool.parameters.length,
  output: portOf("output", tool.output),
  policy: tool.policy,
  schemaVersion: tool.schemaVersion,
  implementation: tool,
})

const ofIntrinsic = (intrinsic: Intrinsic): Callable => ({
  name: intrinsic.name,
  summary: intrinsic.summary,
  parameters: intrinsic.parameters.map(([name, type]) => ({ name, type, validator: undefined })),
  required: intrinsic.required,
  output: { name: "output", type: intrinsic.output, validator: undefined },
  policy: "pure",
  schemaVersion: "stdlib/1",
  implementation: intrinsic,
})

/** Tools and prelude by name. Reads the schemas of a tool when it is first named, so that a thousand tools cost nothing unused. */
export class Registry {
  readonly #implementations = new Map<string, Tool | Intrinsic>()
  readonly #callables = new Map<string, Callable>()
  readonly #prefixes = new Set<string>()
  /** What is wrong with the tools themselves. */
  readonly problems: ReadonlyArray<string>

  constructor(tools: ReadonlyArray<Tool>, prelude: ReadonlyArray<Intrinsic>) {
    const problems: Array<string> = []
    const seen = new Set<string>()
    for (const { name } of tools) {
      if (seen.has(name)) problems.push(`duplicate tool \`${name}\``)
      if (name.split(".").includes("")) problems.push(`tool names must contain non-empty path segments, not \`${name}\``)
      seen.add(name)
    }
    this.problems = problems
    for (const implementation of [...prelude, ...tools]) this.#implementations.set(implementation.name, implementation)
    for (const name of this.#implementations.keys()) {
      for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) this.#prefixes.add(name.slice(0, dot))
      if (!name.includes(".")) this.#prefixes.add(name)
    }
  }

  lookup(name: string): Callable | undefined {
    const known = this.#callables.get(name)
    if (known !== undefined) return known
    const implementation = this.#implementations.get(name)
    if (implementation === undefined) return undefined
    const callable = isTool(implementation) ? ofTool(implementation) : ofIntrinsic(implementation)
    this.#callables.set(name, callable)
    return callable
  }

  /** Whether a name begins some registered path, or is one. */
  isRoot(name: string): boolean {
    return this.#prefixes.has(name)
  }

  names(): Iterable<string> {
    return this.#implementations.keys()
  }
}

const known = new WeakMap<ReadonlyArray<Tool>, Map<ReadonlyArray<Intrinsic>, Registry>>()

/** The registry of an array of tools, kept as long as the array lives: it must not change once it was compiled against. */
export const registryOf = (tools: ReadonlyArray<Tool>, prelude: ReadonlyArray<Intrinsic>): Registry => {
  const ofTools = known.get(tools) ?? new Map<ReadonlyArray<Intrinsic>, Registry>()
  known.set(tools, ofTools)
  const registry = ofTools.get(prelude) ?? new Registry(tools, prelude)
  ofTools.set(prelude, registry)
  return registry
}
