/** A small generator of pseudo-random numbers: the same programs from the same seed, on every machine. */
export class Dice {
  #state: number
  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761 + 1) >>> 0
  }
  /** A whole number below `bound`. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
  chance(percent: number): boolean {
    return this.below(100) < percent
  }
  pick<A>(from: ReadonlyArray<A>): A {
    return from[this.below(from.length)]!
  }
}

type Sort = "int" | "num" | "str" | "bool" | "ints" | "obj"
const sorts: ReadonlyArray<Sort> = ["int", "num", "str", "bool", "ints", "obj"]

interface Names {
  readonly names: Array<readonly [name: string, sort: Sort]>
  readonly loop: boolean
}

/** Programs that compile: every name declared, every operand of a fitting type; they may well fail when they run. */
class Writer {
  readonly dice: Dice
  count = 0
  budget: number

  constructor(seed: number, budget: number) {
    this.dice = new Dice(seed)
    this.budget = budget
  }

  name(): string {
    return `v${++this.count}`
  }

  literal(sort: Sort): string {
    const { dice } = this
    switch (sort) {
      case "int":
        return String(dice.pick([0, 1, 2, 3, 7, -1, "9007199254740993", "9223372036854775807"]))
      case "num":
        return dice.pick(["0.5", "2.0", "1e3", "-3.25"])
      case "str":
        return dice.pick(['"a"', '"b"', '""', '"é😀"', '"x\\n\\"y"'])
      case "bool":
        return dice.pick(["true", "false"])
      case "ints":
        return dice.pick(["[]", "[1]", "[1, 2, 3]", "[3, 1, 2, 1]"])
      case "obj":
        return dice.pick(['{ k: 1, s: "t" }', '{ k: 2, s: "" }'])
    }
  }

  known(sort: Sort, scope: Names): string | undefined {
    const fitting = scope.names.filter(([, each]) => each === sort)
    return fitting.length === 0 ? undefined : this.dice.pick(fitting)[0]
  }

  /** An expression that can stand as an operand. */
  atom(sort: Sort, scope: Names, depth: number): string {
    return `(${this.expr(sort, scope, depth)})`
  }

  expr(sort: Sort, scope: Names, depth: number): string {
    const { dice } = this
    if (depth <= 0 || --this.budget <= 0 || dice.chance(25)) {
      const name = dice.chance(75) ? this.known(sort, scope) : undefined
      return name ?? this.literal(sort)
    }
    const d = depth - 1
    const common: ReadonlyArray<() => string> = [
      () => `${this.atom(sort, scope, d)} if ${this.atom("bool", scope, d)} else ${this.atom(sort, scope, d)}`,
      () => `if ${this.atom("bool", scope, d)} ${this.block(sort, scope, d)} else ${this.block(sort, scope, d)}`,
      () =>
        `boundary${dice.chance(50) ? ` retry ${dice.below(3)}` : ""} ${this.block(sort, { ...scope, loop: false }, d)} catch e ${this.block(sort, { names: scope.names, loop: false }, d)}`,
      () => `after ${this.atom(dice.pick(sorts), scope, d)} ${this.block(sort, scope, d)}`,
      () => this.fold(sort, scope, d),
    ]
    return dice.chance(30) ? dice.pick(common)() : this.own(sort, scope, d)
  }

  fold(sort: Sort, scope: Names, depth: number): string {
    const accumulator = this.name()
    const item = this.name()
    const inner: Names = { names: [...scope.names, [accumulator, sort], [item, "int"]], loop: true }
    return `fold ${accumulator} = ${this.atom(sort, scope, depth)} for ${item} in ${this.atom("ints", scope, depth)} ${this.block(sort, inner, depth)}`
  }

  own(sort: Sort, scope: Names, d: number): string {
    const { dice } = this
    const at = (of: Sort) => this.atom(of, scope, d)
    switch (sort) {
      case "int":
        return dice.pick([
          () => `${at("int")} ${dice.pick(["+", "-", "*", "%"])} ${at("int")}`,
          () => `p.int(${at("int")})`,
          () => `w.int(${at("int")})`,
          () => `${at("ints")}[${at("int")}]`,
          () => `${at("obj")}.k`,
          () => `text.length(${at("str")})`,
          () => `list.length(${at("ints")})`,
          () => `-${at("int")}`,
          () => `number.round(${at("num")})`,
          () => `flaky.int(${at("int")})`,
          () => `soft.int(${at("int")})`,
        ])()
      case "num":
        return dice.pick([
          () => `${at("num")} ${dice.pick(["+", "-", "*"])} ${at("num")}`,
          () => `${at("int")} / ${at("int")}`,
          () => `-${at("num")}`,
        ])()
      case "str":
        return dice.pick([
          () => `${at("str")} + ${at(dice.pick(sorts))}`,
          () => `p.str(${at("str")})`,
          () => `text.upper(${at("str")})`,
          () => `${at("obj")}["s"]`,
          () => `json.encode(${at(dice.pick(sorts))})`,
          () => `regex.replace(${at("str")}, "[a-c]+", "<$0>")`,
          () => `text.slice(${at("str")}, ${at("int")})`,
        ])()
      case "bool":
        return dice.pick([
          () => `${at("int")} ${dice.pick(["<", "<=", ">", ">=", "==", "!="])} ${at("int")}`,
          () => `${at("bool")} ${dice.pick(["and", "or"])} ${at("bool")}`,
          () => `not ${at("bool")}`,
          () => `${at("int")} in ${at("ints")}`,
          () => `${at("str")} in ${at("str")}`,
          () => `${at("obj")} == ${at("obj")}`,
        ])()
      case "ints":
        return dice.pick([
          () => `[${at("int")}, ${at("int")}]`,
          () => `for ${this.loop(scope, d)}`,
          () => `for ${this.loop(scope, d)}`,
          () => `list.sort(${at("ints")})`,
          () => `list.slice(${at("ints")}, ${at("int")})`,
          () => "list.range(0, 4)",
        ])()
      case "obj":
        return dice.pick([() => `{ k: ${at("int")}, s: ${at("str")} }`, () => `${at("obj")} + { k: ${at("int")} }`])()
    }
  }

  loop(scope: Names, depth: number): string {
    const item = this.name()
    const inner: Names = { names: [...scope.names, [item, "int"]], loop: true }
    return `${item} in ${this.atom("ints", scope, depth)} ${this.block("int", inner, depth)}`
  }

  statements(scope: Names, depth: number, many: number): ReadonlyArray<string> {
    const { dice } = this
    const out: Array<string> = []
    for (let count = dice.below(many + 1); count > 0; count--) {
      const roll = dice.below(100)
      if (roll < 8 && scope.loop) out.push(dice.chance(70) ? `skip if ${this.atom("bool", scope, depth)}` : "skip if false")
      else if (roll < 14)
        out.push(`assert(${this.expr("bool", scope, depth)}${dice.chance(50) ? `, ${this.expr("str", scope, depth)}` : ""})`)
      else if (roll < 22) out.push(`_ = ${this.expr(dice.pick(sorts), scope, depth)}`)
      else if (roll < 25) out.push(`_ = fail("OWN", ${this.atom("str", scope, depth)}) if ${this.atom("bool", scope, depth)}`)
      else {
        const sort = dice.pick(sorts)
        const value = this.expr(sort, scope, depth)
        const name = this.name()
        scope.names.push([name, sort])
        out.push(`${name} = ${value}`)
      }
    }
    return out
  }

  block(sort: Sort, outer: Names, depth: number): string {
    const scope: Names = { names: [...outer.names], loop: outer.loop }
    const statements = this.statements(scope, depth, 2)
    const parts = [...statements, `return ${this.expr(sort, scope, depth)}`]
    return this.dice.chance(50) ? `{ ${parts.join("; ")} }` : `{\n${parts.join("\n")}\n}`
  }

  program(): string {
    const scope: Names = { names: [], loop: false }
    const statements = this.statements(scope, 4, 8)
    const comment = this.dice.chance(30) ? "# a comment\n" : ""
    return `${comment}${statements.map((each) => (this.dice.chance(10) ? `${each} // why` : each)).join("\n")}\nreturn [${sorts.map((sort) => this.expr(sort, scope, 2)).join(", ")}]`
  }
}

/** A program that compiles. */
export const program = (seed: number, budget = 60): string => new Writer(seed, budget).program()

const fragments =
  '( ) [ ] { } . , : ; = + - * / % == != < <= > >= return for in after boundary fold skip assert fail retry catch if else and or not null true false x y text.upper 1 2.5 "s" "\\n" # \n 1e \' & @ 😀 é \ud800'.split(
    " ",
  )

/** A source that has been damaged in a few places. */
export const mutated = (seed: number, source: string): string => {
  const dice = new Dice(seed)
  let text = source
  for (let count = 1 + dice.below(4); count > 0; count--) {
    const at = dice.below(text.length + 1)
    const to = Math.min(text.length, at + dice.below(12))
    text = dice.pick([
      () => text.slice(0, at) + text.slice(to),
      () => `${text.slice(0, at)} ${dice.pick(fragments)} ${text.slice(at)}`,
      () => text.slice(0, at) + text.slice(at, to) + text.slice(at),
      () => text.slice(0, at),
    ])()
  }
  return text
}

/** A sequence of tokens in no order. */
export const soup = (seed: number): string => {
  const dice = new Dice(seed)
  return Array.from({ length: dice.below(60) }, () => dice.pick(fragments)).join(dice.pick([" ", "", "\n"]))
}

/** Any UTF-16 units at all. */
export const noise = (seed: number): string => {
  const dice = new Dice(seed)
  return Array.from({ length: dice.below(200) }, () =>
    String.fromCharCode(dice.chance(80) ? dice.below(128) : dice.below(65_536)),
  ).join("")
}
