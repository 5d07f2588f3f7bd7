import type { BinaryOperator } from "../Syntax.ts"
import * as Types from "../Types.ts"
import { type ObjectType, type Type, union, variants } from "../Types.ts"

const isNumeric = (type: Type) => type.kind === "integer" || type.kind === "number"
const isRecord = (type: Type) => type.kind === "object" || type.kind === "map"
const isLenient = (type: Type) => type.kind === "any" || type.kind === "union" || type.kind === "never"

/** Types that `+` with a String, and a String parameter, can write as text. */
const hasText = (type: Type) => type.kind !== "null" && type.kind !== "bytes"

const valueTypes = (type: Type): ReadonlyArray<Type> => {
  if (type.kind === "map") return [type.values]
  if (type.kind !== "object") return []
  return type.open ? [Types.any] : [...type.properties.values()]
}

const merge = (left: ObjectType, right: ObjectType): Type => {
  const properties = new Map(left.properties)
  for (const [key, type] of right.properties) {
    const before = properties.get(key)
    properties.set(key, before === undefined || right.required.has(key) ? type : union(before, type))
  }
  return Types.object(properties, new Set([...left.required, ...right.required]), left.open || right.open)
}

const sum = (left: Type, right: Type): Type | undefined => {
  if (left.kind === "string" || right.kind === "string") return hasText(left) && hasText(right) ? Types.string : undefined
  if (left.kind === "list" && right.kind === "list") return Types.list(Types.any)
  if (left.kind === "object" && right.kind === "object") return merge(left, right)
  if (isRecord(left) && isRecord(right)) return Types.map(union(...valueTypes(left), ...valueTypes(right)))
  return arithmetic(left, right)
}

const arithmetic = (left: Type, right: Type): Type | undefined => {
  if (left.kind === "integer" && right.kind === "integer") return Types.integer
  return isNumeric(left) && isNumeric(right) ? Types.number : undefined
}

const comparisons: ReadonlySet<string> = new Set(["and", "or", "==", "!=", "<", "<=", ">", ">=", "in"])

/** The type of an operation, or undefined when its operands can never be right. Lenient on what is not known or a union. */
export const binaryType = (op: BinaryOperator, left: Type, right: Type): Type | undefined => {
  if (isLenient(left) || isLenient(right)) return comparisons.has(op) ? Types.boolean : Types.any
  switch (op) {
    case "and":
    case "or":
      return left.kind === "boolean" && right.kind === "boolean" ? Types.boolean : undefined
    case "==":
    case "!=":
    case "in":
      return Types.boolean
    case "<":
    case "<=":
    case ">":
    case ">=":
      return (isNumeric(left) && isNumeric(right)) || (left.kind === "string" && right.kind === "string")
        ? Types.boolean
        : undefined
    case "+":
      return sum(left, right)
    case "-":
    case "*":
      return arithmetic(left, right)
    case "/":
      return isNumeric(left) && isNumeric(right) ? Types.number : undefined
    case "%":
      return left.kind === "integer" && right.kind === "integer" ? Types.integer : undefined
  }
}

export const unaryType = (op: "not" | "-", operand: Type): Type | undefined => {
  if (operand.kind === "any" || operand.kind === "union") return op === "not" ? Types.boolean : operand
  if (op === "not") return operand.kind === "boolean" ? Types.boolean : undefined
  return isNumeric(operand) ? (operand.kind === "integer" ? Types.integer : Types.number) : undefined
}

/** The type of `x.field`, undefined when no variant has it. */
export const memberType = (target: Type, field: string): Type | undefined => {
  const found = variants(target).flatMap((type): ReadonlyArray<Type> => {
    if (type.kind === "any") return [type]
    if (type.kind === "map") return [type.values]
    if (type.kind !== "object") return []
    const property = type.properties.get(field)
    return property === undefined ? (type.open ? [Types.any] : []) : [property]
  })
  return found.length === 0 ? undefined : union(...found)
}

/** The type of `x[i]`, undefined when no variant of the target takes such an index. */
export const indexType = (target: Type, index: Type): Type | undefined => {
  const loose = index.kind === "any" || index.kind === "union" || index.kind === "never"
  const found = variants(target).flatMap((type): ReadonlyArray<Type> => {
    switch (type.kind) {
      case "any":
        return [type]
      case "list":
      case "string":
      case "bytes": {
        if (loose) return [Types.any]
        if (index.kind !== "integer") return []
        return [type.kind === "list" ? type.items : type.kind === "string" ? Types.string : Types.integer]
      }
      case "map":
      case "object": {
        if (loose) return [Types.any]
        return index.kind === "string" ? [union(...valueTypes(type))] : []
      }
      default:
        return []
    }
  })
  return found.length === 0 ? undefined : union(...found)
}

/** What a loop over the type binds, undefined when no variant can be walked. */
export const itemType = (collection: Type): Type | undefined => {
  const found = variants(collection).flatMap((type): ReadonlyArray<Type> => {
    if (type.kind === "any") return [type]
    if (type.kind === "list") return [type.items]
    if (!isRecord(type)) return []
    return [
      Types.object(
        new Map([
          ["key", Types.string],
          ["value", union(...valueTypes(type))],
        ]),
      ),
    ]
  })
  return found.length === 0 ? undefined : union(...found)
}
