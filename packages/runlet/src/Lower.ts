import { Effects } from "./Effects.ts"
import type { Code } from "./Frame.ts"
import { block } from "./Lower/Blocks.ts"
import { boundary } from "./Lower/Boundary.ts"
import { call, fail } from "./Lower/Calls.ts"
import { after, conditional, conditionalBlock, fold, loop } from "./Lower/Control.ts"
import { list, numeral, object } from "./Lower/Literals.ts"
import { binary, index, member, unary } from "./Lower/Operators.ts"
import { type Body, type Lowering, reference, type Scope } from "./Lower/Scope.ts"
import type { Registry } from "./Registry.ts"
import type { Lines } from "./Span.ts"
import type { Block, Expr, Fold } from "./Syntax.ts"
import type { Type } from "./Types.ts"

/** What the checker hands on besides the tree. */
export interface Checked {
  readonly registry: Registry
  readonly lines: Lines
  readonly foldTypes: ReadonlyMap<Fold, Type>
}

const lower = (lowering: Lowering, expr: Expr, scope: Scope): Code => {
  switch (expr.kind) {
    case "literal": {
      const { value } = expr
      return () => value
    }
    case "integer":
    case "number":
      return numeral(expr)
    case "name":
      return reference(expr, scope)
    case "list":
      return list(lowering, expr, scope)
    case "object":
      return object(lowering, expr, scope)
    case "member":
      return member(lowering, expr, scope)
    case "index":
      return index(lowering, expr, scope)
    case "call":
      return call(lowering, expr, scope)
    case "unary":
      return unary(lowering, expr, scope)
    case "binary":
      return binary(lowering, expr, scope)
    case "conditional":
      return conditional(lowering, expr, scope)
    case "if":
      return conditionalBlock(lowering, expr, scope)
    case "for":
      return loop(lowering, expr, scope)
    case "fold":
      return fold(lowering, expr, scope)
    case "after":
      return after(lowering, expr, scope)
    case "boundary":
      return boundary(lowering, expr, scope)
    case "fail":
      return fail(lowering, expr, scope)
  }
}

/** A checked tree as code. The frame of the program holds the host's inputs, in the order of `inputs`, before its own bindings. */
export const lowerProgram = (program: Block, checked: Checked, inputs: ReadonlyArray<string>): Body => {
  const lowering: Lowering = {
    registry: checked.registry,
    effects: new Effects(checked.registry),
    lines: checked.lines,
    foldTypes: checked.foldTypes,
    expr: (expr, scope) => lower(lowering, expr, scope),
    block: (source, scope, names) => block(lowering, source, scope, names),
  }
  return block(lowering, program, undefined, inputs)
}
