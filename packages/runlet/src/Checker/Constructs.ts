import { rank } from "../Convert.ts"
import { schemaError, warning } from "../Draft.ts"
import {
  type After,
  type Block,
  type Boundary,
  blocks,
  type Expr,
  expressions,
  type Fold,
  type For,
  operands,
} from "../Syntax.ts"
import * as Types from "../Types.ts"
import { notation, sameType, type Type, union } from "../Types.ts"
import { needsConversion, unify } from "./Accumulator.ts"
import type { Checking } from "./Checking.ts"
import type { Names } from "./Names.ts"
import { itemType } from "./Operations.ts"

const caughtType: Type = Types.object(
  new Map([
    ["code", Types.string],
    ["message", Types.string],
    ["node_id", Types.string],
    ["retryable", Types.boolean],
    ["uncertain", Types.boolean],
    ["attempt", Types.integer],
    ["span", Types.any],
  ]),
  undefined,
  true,
)

/** Folds nested deeper are checked once, with an accumulator of any type: two passes at every level would double the work each time. */
const MAX_FOLD_DEPTH = 6

const holdsCall = (expr: Expr): boolean =>
  expr.kind === "call" || operands(expr).some(holdsCall) || blocks(expr).some(blockHoldsCall)

const blockHoldsCall = (block: Block): boolean =>
  holdsCall(block.result) || block.statements.some((statement) => expressions(statement).some(holdsCall))

const items = (checking: Checking, collection: Expr, names: Names, word: "for" | "fold"): Type => {
  const found = checking.infer(collection, names)
  const type = itemType(found)
  if (type !== undefined) return type
  checking.report(
    schemaError("RL2309", `${word} collection must be a list, object, or map, got ${notation(found)}`, collection.span),
  )
  return Types.any
}

export const forType = (checking: Checking, expr: For, names: Names): Type => {
  const item = items(checking, expr.collection, names, "for")
  return Types.list(checking.block(expr.body, names, [[expr.item, item]]).type)
}

/** A call in the body of a fold that never looks at the accumulator runs in sequence for nothing. */
const warnUnrelated = (checking: Checking, expr: Fold, inner: Names): void => {
  const accumulator = inner.bindings.get(expr.accumulator.name)
  for (const statement of expr.body.statements) {
    if (statement.kind !== "bind" && statement.kind !== "discard") continue
    if (!checking.effects.effectful(statement.value)) continue
    const read = inner.reachable([statement])
    if (accumulator !== undefined && read.has(accumulator)) continue
    const message = `this call runs once per step, one after the other, without using \`${expr.accumulator.name}\`; a \`for\` would run them side by side`
    checking.report(warning("RL1206", "sequential effect does not use the accumulator", message, statement.span))
  }
}

export const foldType = (checking: Checking, expr: Fold, names: Names): Type => {
  const seed = checking.infer(expr.seed, names)
  const item = items(checking, expr.collection, names, "fold")
  const body = (accumulator: Type) =>
    checking.trial(() =>
      checking.block(expr.body, names, [
        [expr.accumulator, accumulator],
        [expr.item, item],
      ]),
    )
  const settle = (accumulator: Type, found: Type | { readonly problem: string }): Type => {
    if (!("problem" in found)) return found
    const message = `fold accumulator must keep one schema: ${found.problem}`
    checking.report(schemaError("RL2313", message, expr.body.result.span))
    return accumulator
  }
  const deep = ++checking.foldDepth > MAX_FOLD_DEPTH
  let pass = body(deep ? Types.any : seed)
  let type = deep ? Types.any : unify(seed, pass.result.type)
  if (!deep && !("problem" in type) && !sameType(type, seed)) {
    pass = body(type)
    type = unify(type, pass.result.type)
  }
  checking.foldDepth--
  pass.keep()
  const accumulator = settle(seed, type)
  warnUnrelated(checking, expr, pass.result.names)
  if (needsConversion(pass.result.type, accumulator) && rank(pass.result.type, accumulator) !== undefined)
    checking.foldTypes.set(expr, accumulator)
  return accumulator
}

export const afterType = (checking: Checking, expr: After, names: Names): Type => {
  checking.infer(expr.gate, names)
  const { type } = checking.block(expr.body, names, [])
  if (!blockHoldsCall(expr.body)) {
    const message = "the block holds no call, so there is nothing that waits; put the calls that must come later inside it"
    checking.report(
      warning("RL1207", "after block creates no calls", message, {
        start: expr.span.start,
        end: expr.span.start + "after".length,
      }),
    )
  }
  return type
}

export const boundaryType = (checking: Checking, expr: Boundary, names: Names): Type => {
  const body = checking.block(expr.body, names, [])
  const handler = checking.block(expr.handler, names, [[expr.error, caughtType]])
  return union(body.type, handler.type)
}
