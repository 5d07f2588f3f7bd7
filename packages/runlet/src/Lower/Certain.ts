import { type Block, type Expr, operands } from "../Syntax.ts"

/**
 * The free names that a block is certain to read, whatever its conditions say: from its result, discards, bindings that hold a call and
 * the first guard, but nothing behind that guard, no branch, no loop body, no right side of `and` or `or`, no handler.
 */
export const certainNames = (block: Block): ReadonlySet<string> => {
  const names = new Set<string>()
  walkBlock(block, new Set(), names)
  return names
}

const holdsCall = (expr: Expr): boolean => expr.kind === "call" || operands(expr).some(holdsCall)

const walkBlock = (block: Block, outer: ReadonlySet<string>, names: Set<string>): void => {
  const own = new Map<string, Expr>()
  const followed = new Set<string>()
  const read = (expr: Expr): void => {
    const free = new Set<string>()
    walk(expr, outer, free)
    for (const name of free) {
      const source = own.get(name)
      if (source === undefined) names.add(name)
      else if (!followed.has(name)) {
        followed.add(name)
        read(source)
      }
    }
  }
  for (const statement of block.statements) {
    switch (statement.kind) {
      case "bind":
        if (holdsCall(statement.value)) read(statement.value)
        own.set(statement.name.name, statement.value)
        break
      case "discard":
        read(statement.value)
        break
      case "skip":
        if (statement.condition !== undefined) read(statement.condition)
        return
      case "assert":
        read(statement.condition)
        return
    }
  }
  read(block.result)
}

const walk = (expr: Expr, bound: ReadonlySet<string>, names: Set<string>): void => {
  switch (expr.kind) {
    case "name":
      if (!bound.has(expr.name)) names.add(expr.name)
      return
    case "binary":
      walk(expr.left, bound, names)
      if (expr.op !== "and" && expr.op !== "or") walk(expr.right, bound, names)
      return
    case "conditional":
      walk(expr.condition, bound, names)
      return
    case "if":
      walk(expr.arms[0]!.condition, bound, names)
      return
    case "after":
      walk(expr.gate, bound, names)
      walkBlock(expr.body, bound, names)
      return
    case "boundary":
      walkBlock(expr.body, bound, names)
      return
    default:
      for (const operand of operands(expr)) walk(operand, bound, names)
  }
}
