import { callType, failType } from "./Checker/Calls.ts"
import type { CheckedBlock, Checking } from "./Checker/Checking.ts"
import { afterType, boundaryType, foldType, forType } from "./Checker/Constructs.ts"
import { type Binding, Names } from "./Checker/Names.ts"
import { binaryType, indexType, memberType, unaryType } from "./Checker/Operations.ts"
import { type Draft, schemaError, warning } from "./Draft.ts"
import { Effects } from "./Effects.ts"
import { effort, nearest } from "./Nearest.ts"
import type { Registry } from "./Registry.ts"
import type { Span } from "./Span.ts"
import {
  type Block,
  blocks,
  type Expr,
  expressions,
  type Fold,
  type Name,
  type ObjectLiteral,
  operands,
  type Statement,
} from "./Syntax.ts"
import * as Types from "./Types.ts"
import { notation, type Type, typeKind, union, variants } from "./Types.ts"

/** A host input as the checker knows it. */
export interface InputType {
  readonly name: string
  readonly type: Type
}

/** Everything found, errors first, each in source order, and the folds whose values have to be converted. */
export interface Check {
  readonly drafts: ReadonlyArray<Draft>
  readonly foldTypes: ReadonlyMap<Fold, Type>
  /** What the program returns. */
  readonly type: Type
}

const MAX_INTEGER = 2n ** 63n - 1n
/** Diagnostics that come with the nearest names; finding them is the dearest part of a check. */
const MAX_SUGGESTIONS = 50

class Checker implements Checking {
  readonly registry: Registry
  readonly effects: Effects
  readonly foldTypes = new Map<Fold, Type>()
  foldDepth = 0
  patterns = 0
  drafts: Array<Draft> = []
  #suggestions = 0
  readonly #effort = effort()

  constructor(registry: Registry) {
    this.registry = registry
    this.effects = new Effects(registry)
  }

  readonly report = (draft: Draft): void => {
    this.drafts.push(draft)
  }

  readonly candidates: Checking["candidates"] = (word, names, lenient) =>
    ++this.#suggestions > MAX_SUGGESTIONS ? [] : nearest(word, names(), lenient, this.#effort)

  trial<A>(check: () => A): { result: A; keep: () => void } {
    const outer = this.drafts
    const own: Array<Draft> = []
    this.drafts = own
    const result = check()
    this.drafts = outer
    return { result, keep: () => outer.push(...own) }
  }

  readonly block: Checking["block"] = (block, parent, bound) => {
    const names = new Names(parent)
    for (const [{ name, span }, type] of bound) {
      if (names.bindings.has(name)) this.#duplicate(name, span)
      names.declare(name, type, span)
    }
    return this.body(block, names)
  }

  body(block: Block, names: Names): CheckedBlock {
    for (const statement of block.statements) {
      names.place = statement
      this.#statement(statement, names)
    }
    names.place = block.result
    const type = this.infer(block.result, names)
    names.place = undefined
    this.#warnUnused(block, names)
    return { type, names }
  }

  #statement(statement: Statement, names: Names): void {
    switch (statement.kind) {
      case "bind": {
        const { name, span } = statement.name
        names.pending = name
        const type = this.infer(statement.value, names)
        names.pending = undefined
        if (names.bindings.has(name)) {
          this.#duplicate(name, span)
          return
        }
        if (this.registry.isRoot(name)) this.#collision(name, span)
        names.declare(name, type, span, statement)
        return
      }
      case "discard":
        this.infer(statement.value, names)
        return
      case "skip":
        if (statement.condition !== undefined) this.#condition(statement.condition, names, "skip condition")
        return
      case "assert": {
        this.#condition(statement.condition, names, "assert condition")
        if (statement.message === undefined) return
        const type = this.infer(statement.message, names)
        if (!variants(type).some((variant) => variant.kind === "string" || variant.kind === "any" || variant.kind === "never"))
          this.report(schemaError("RL2317", "assert message must be a string", statement.message.span))
      }
    }
  }

  #duplicate(name: string, span: Span): void {
    const message = `\`${name}\` is already declared in this scope; bindings are immutable. Decide the value in one \`if\` expression, use a new name, or accumulate with \`fold\``
    this.report(schemaError("RL2106", message, span, { title: "duplicate binding" }))
  }

  #collision(name: string, span: Span): void {
    const fix = { span, replacement: `${name}_value`, message: `rename to \`${name}_value\`` }
    this.report(
      schemaError("RL2107", `\`${name}\` is a registered namespace root`, span, {
        title: "binding collides with registry root",
        fix,
      }),
    )
  }

  #warnUnused(block: Block, names: Names): void {
    const roots = [
      block.result,
      ...block.statements.filter((statement) => statement.kind !== "bind" || this.effects.isRoot(statement)),
    ]
    const reachable = names.reachable(roots)
    for (const statement of block.statements) {
      if (statement.kind !== "bind" || this.effects.isRoot(statement)) continue
      const binding = names.made.get(statement)
      if (binding === undefined || reachable.has(binding)) continue
      const { name, span } = statement.name
      const title = holdsCall(statement.value) ? "unused tool call" : "unused binding"
      this.report(
        warning(
          "RL1205",
          title,
          `\`${name}\` is never used, so it is never evaluated; use it, or discard it with \`_ = ...\` to evaluate it anyway`,
          span,
        ),
      )
    }
  }

  #condition(expr: Expr, names: Names, what: string): void {
    const type = this.infer(expr, names)
    if (["boolean", "any", "union", "never"].includes(type.kind)) return
    const message = `${what} must be Boolean, got ${notation(type)}; there is no truthiness: compare, for example \`x != null\` or \`list.length(xs) > 0\``
    this.report(schemaError("RL2305", message, expr.span))
  }

  #name(expr: Name, names: Names): Type {
    const { binding, itself } = names.read(expr.name)
    if (binding !== undefined && !itself) return binding.type
    if (itself) {
      const message = `\`${expr.name}\` depends on itself; an inner binding cannot read the outer one of its own name`
      this.report(schemaError("RL4104", message, expr.span, { title: "self-dependent binding" }))
      return Types.any
    }
    const message = `\`${expr.name}\` is not a local, host input, or registered callable`
    const candidates = this.candidates(expr.name, () => [...names.visible(), ...this.registry.names()])
    this.report(schemaError("RL2101", message, expr.span, { title: "unknown name", candidates }))
    return Types.any
  }

  #member(expr: Expr & { kind: "member" }, names: Names): Type {
    const target = this.infer(expr.target, names)
    const type = memberType(target, expr.field)
    if (type !== undefined || target.kind === "never") return type ?? Types.never
    const list = target.kind === "list" ? " — iterate or index the list itself" : ""
    const message = `property \`${expr.field}\` is not available on this value of type ${notation(target)}${list}`
    const known = variants(target).flatMap((variant) => (variant.kind === "object" ? [...variant.properties.keys()] : []))
    const span = { start: expr.span.end - expr.field.length, end: expr.span.end }
    this.report(
      schemaError("RL2103", message, span, {
        title: "unknown property",
        candidates: this.candidates(expr.field, () => known, true),
      }),
    )
    return Types.any
  }

  #object(expr: ObjectLiteral, names: Names): Type {
    const properties = new Map<string, Type>()
    const values: Array<Type> = []
    let computed = false
    for (const { key, value } of expr.entries) {
      if (typeof key !== "string") {
        computed = true
        const type = this.infer(key, names)
        if (!["string", "integer", "number", "boolean", "any", "union", "never"].includes(type.kind))
          this.report(
            schemaError("RL2315", `computed property keys must be strings or scalar values, got ${typeKind(type)}`, key.span),
          )
      }
      const type = this.infer(value, names)
      values.push(type)
      if (typeof key === "string") properties.set(key, type)
    }
    return computed ? Types.map(union(...values)) : Types.object(properties)
  }

  #binary(expr: Expr & { kind: "binary" }, names: Names): Type {
    const left = this.infer(expr.left, names)
    const right = this.infer(expr.right, names)
    const logical = expr.op === "and" || expr.op === "or"
    if (logical && left.kind !== "boolean" && left.kind !== "any" && left.kind !== "union")
      this.report(schemaError("RL2305", "Boolean operator requires Boolean operands", expr.left.span))
    const type = binaryType(expr.op, left, right)
    if (type !== undefined) return type
    this.report(
      schemaError(
        "RL2304",
        `operator does not accept these operand schemas: ${notation(left)} ${expr.op} ${notation(right)}`,
        expr.span,
      ),
    )
    return logical ? Types.boolean : Types.any
  }

  #unary(expr: Expr & { kind: "unary" }, names: Names): Type {
    const { operand: negated } = expr
    const bare = negated.kind === "integer" && negated.span.end === expr.span.end
    if (expr.op === "-" && bare && BigInt(negated.text) === MAX_INTEGER + 1n) return Types.integer
    const operand = this.infer(expr.operand, names)
    const type = unaryType(expr.op, operand)
    if (type !== undefined) return type
    this.report(schemaError("RL2304", `operator does not accept this schema: ${expr.op} ${notation(operand)}`, expr.span))
    return Types.any
  }

  readonly infer = (expr: Expr, names: Names): Type => {
    switch (expr.kind) {
      case "literal":
        return expr.value === null ? Types.nothing : typeof expr.value === "string" ? Types.string : Types.boolean
      case "integer":
        if (BigInt(expr.text) > MAX_INTEGER)
          this.report(schemaError("RL2301", "integer literal is outside the signed 64-bit range", expr.span))
        return Types.integer
      case "number":
        if (!Number.isFinite(Number(expr.text)))
          this.report(schemaError("RL2302", "number literal is not a finite binary64 value", expr.span))
        return Types.number
      case "name":
        return this.#name(expr, names)
      case "list":
        return expr.items.length === 0
          ? Types.list(Types.any)
          : Types.list(union(...expr.items.map((item) => this.infer(item, names))))
      case "object":
        return this.#object(expr, names)
      case "member":
        return this.#member(expr, names)
      case "index": {
        const target = this.infer(expr.target, names)
        const index = this.infer(expr.index, names)
        const type = indexType(target, index)
        if (type === undefined && target.kind !== "never")
          this.report(
            schemaError(
              "RL2308",
              `target and index schemas are incompatible: ${notation(target)} by ${notation(index)}`,
              expr.span,
            ),
          )
        return type ?? Types.any
      }
      case "call":
        return callType(this, expr, names)
      case "unary":
        return this.#unary(expr, names)
      case "binary":
        return this.#binary(expr, names)
      case "conditional": {
        const value = this.infer(expr.value, names)
        this.#condition(expr.condition, names, "condition")
        return union(value, expr.other === undefined ? Types.nothing : this.infer(expr.other, names))
      }
      case "if": {
        const types = expr.arms.map(({ condition, body }) => {
          this.#condition(condition, names, "condition")
          return this.block(body, names, []).type
        })
        return union(...types, expr.otherwise === undefined ? Types.nothing : this.block(expr.otherwise, names, []).type)
      }
      case "for":
        return forType(this, expr, names)
      case "fold":
        return foldType(this, expr, names)
      case "after":
        return afterType(this, expr, names)
      case "boundary":
        return boundaryType(this, expr, names)
      case "fail":
        return failType(this, expr, names)
    }
  }
}

const holdsCall = (expr: Expr): boolean =>
  expr.kind === "call" ||
  operands(expr).some(holdsCall) ||
  blocks(expr).some(
    (block) => holdsCall(block.result) || block.statements.some((statement) => expressions(statement).some(holdsCall)),
  )

/** Names, types and warnings of a program. Never throws. */
export const check = (program: Block, registry: Registry, inputs: ReadonlyArray<InputType>): Check => {
  const checker = new Checker(registry)
  const names = new Names(undefined)
  const start: Binding["span"] = { start: 0, end: 0 }
  for (const { name, type } of inputs) {
    if (names.bindings.has(name))
      checker.report(schemaError("RL8102", `host input \`${name}\` is given twice`, start, { title: "duplicate host input" }))
    names.declare(name, type, start)
  }
  const { type } = checker.body(program, names)
  const weight = (draft: Draft) => (draft.severity === "error" ? 0 : 1)
  const drafts = checker.drafts.toSorted((a, b) => weight(a) - weight(b) || a.span.start - b.span.start)
  return { drafts, foldTypes: checker.foldTypes, type }
}
