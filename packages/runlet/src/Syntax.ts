import type { Span } from "./Span.ts"

interface Node {
  readonly span: Span
  /** Levels of the tree from here down; bounded by the parser, so that every walk may recurse. */
  readonly height: number
}

export interface Literal extends Node {
  readonly kind: "literal"
  readonly value: null | boolean | string
}
/** Digits as written; the checker decides whether they fit. */
export interface IntegerLiteral extends Node {
  readonly kind: "integer"
  readonly text: string
}
export interface NumberLiteral extends Node {
  readonly kind: "number"
  readonly text: string
}
export interface Name extends Node {
  readonly kind: "name"
  readonly name: string
}
export interface ListLiteral extends Node {
  readonly kind: "list"
  readonly items: ReadonlyArray<Expr>
}
export interface Entry {
  readonly key: string | Expr
  readonly keySpan: Span
  readonly value: Expr
  readonly shorthand: boolean
}
export interface ObjectLiteral extends Node {
  readonly kind: "object"
  readonly entries: ReadonlyArray<Entry>
}
export interface Member extends Node {
  readonly kind: "member"
  readonly target: Expr
  readonly field: string
}
export interface Index extends Node {
  readonly kind: "index"
  readonly target: Expr
  readonly index: Expr
}
export interface Call extends Node {
  readonly kind: "call"
  readonly callee: Expr
  /** The dotted name of the tool, or undefined when the callee is no name path. */
  readonly path: string | undefined
  readonly args: ReadonlyArray<Expr>
}
export type UnaryOperator = "not" | "-"
export interface Unary extends Node {
  readonly kind: "unary"
  readonly op: UnaryOperator
  readonly operand: Expr
}
export type BinaryOperator = "or" | "and" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "+" | "-" | "*" | "/" | "%"
export interface Binary extends Node {
  readonly kind: "binary"
  readonly op: BinaryOperator
  readonly left: Expr
  readonly right: Expr
}
/** `value if condition else other`; without `else` it is null. */
export interface Conditional extends Node {
  readonly kind: "conditional"
  readonly value: Expr
  readonly condition: Expr
  readonly other: Expr | undefined
}
export interface Arm {
  readonly condition: Expr
  readonly body: Block
}
/** The block form, its `else if` chain flat. */
export interface If extends Node {
  readonly kind: "if"
  readonly arms: ReadonlyArray<Arm>
  readonly otherwise: Block | undefined
}
export interface For extends Node {
  readonly kind: "for"
  readonly item: Name
  readonly collection: Expr
  readonly body: Block
}
export interface Fold extends Node {
  readonly kind: "fold"
  readonly accumulator: Name
  readonly seed: Expr
  readonly item: Name
  readonly collection: Expr
  readonly body: Block
}
export interface After extends Node {
  readonly kind: "after"
  readonly gate: Expr
  readonly body: Block
}
export interface Boundary extends Node {
  readonly kind: "boundary"
  readonly retries: number
  readonly body: Block
  readonly error: Name
  readonly handler: Block
}
export interface Fail extends Node {
  readonly kind: "fail"
  readonly args: ReadonlyArray<Expr>
}

export type Expr =
  | Literal
  | IntegerLiteral
  | NumberLiteral
  | Name
  | ListLiteral
  | ObjectLiteral
  | Member
  | Index
  | Call
  | Unary
  | Binary
  | Conditional
  | If
  | For
  | Fold
  | After
  | Boundary
  | Fail

export interface Bind extends Node {
  readonly kind: "bind"
  readonly name: Name
  readonly value: Expr
}
/** `_ = value`: evaluated always, readable never. */
export interface Discard extends Node {
  readonly kind: "discard"
  readonly value: Expr
}
export interface Skip extends Node {
  readonly kind: "skip"
  readonly condition: Expr | undefined
}
export interface Assert extends Node {
  readonly kind: "assert"
  readonly condition: Expr
  readonly message: Expr | undefined
}
export type Statement = Bind | Discard | Skip | Assert

/** Statements and the expression after `return`. */
export interface Block extends Node {
  readonly statements: ReadonlyArray<Statement>
  readonly result: Expr
}

/** The expressions that an expression evaluates itself, not those inside its blocks. */
export const operands = (expr: Expr): ReadonlyArray<Expr> => {
  switch (expr.kind) {
    case "list":
      return expr.items
    case "object":
      return expr.entries.flatMap((entry) => (typeof entry.key === "string" ? [entry.value] : [entry.key, entry.value]))
    case "member":
      return [expr.target]
    case "index":
      return [expr.target, expr.index]
    case "call":
      return expr.path === undefined ? [expr.callee, ...expr.args] : expr.args
    case "unary":
      return [expr.operand]
    case "binary":
      return [expr.left, expr.right]
    case "conditional":
      return expr.other === undefined ? [expr.value, expr.condition] : [expr.value, expr.condition, expr.other]
    case "if":
      return expr.arms.map((arm) => arm.condition)
    case "for":
      return [expr.collection]
    case "fold":
      return [expr.seed, expr.collection]
    case "after":
      return [expr.gate]
    case "fail":
      return expr.args
    default:
      return []
  }
}

/** The blocks directly inside an expression. */
export const blocks = (expr: Expr): ReadonlyArray<Block> => {
  switch (expr.kind) {
    case "if":
      return expr.otherwise === undefined
        ? expr.arms.map((arm) => arm.body)
        : [...expr.arms.map((arm) => arm.body), expr.otherwise]
    case "for":
    case "fold":
    case "after":
      return [expr.body]
    case "boundary":
      return [expr.body, expr.handler]
    default:
      return []
  }
}

/** The expressions of a statement. */
export const expressions = (statement: Statement): ReadonlyArray<Expr> => {
  switch (statement.kind) {
    case "bind":
    case "discard":
      return [statement.value]
    case "skip":
      return statement.condition === undefined ? [] : [statement.condition]
    case "assert":
      return statement.message === undefined ? [statement.condition] : [statement.condition, statement.message]
  }
}
