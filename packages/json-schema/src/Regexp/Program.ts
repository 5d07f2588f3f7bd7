import type { CharClass } from "./CharClass.ts"
import { type Assertion, type Parsed, type Pattern, reversed } from "./Pattern.ts"

/** One instruction. */
export type Step =
  | { readonly op: "char"; readonly chars: CharClass }
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  | { readonly op: "save"; readonly slot: number }
  | { readonly op: "assert"; readonly assertion: Assertion; readonly word: CharClass | undefined }
  | { readonly op: "look"; readonly index: number; readonly negated: boolean }
  | { readonly op: "match" }

/** A look-around as a program of its own: the positions at which it holds are found in one pass over the text. */
interface Look {
  readonly ahead: boolean
  readonly steps: ReadonlyArray<Step>
}

/** A compiled pattern. */
export interface Program {
  readonly steps: ReadonlyArray<Step>
  readonly slots: number
  readonly looks: ReadonlyArray<Look>
  /** What a match begins with; undefined when it may be empty. */
  readonly firsts: ReadonlyArray<CharClass> | undefined
  /** Every match begins at the start of the text. */
  readonly anchored: boolean
}

/** Instructions a program may have; bounded repetitions are written out. */
export const MAX_STEPS = 20_000

class TooLarge {}

class Compiler {
  readonly looks: Array<Look>
  readonly steps: Array<Step> = []
  readonly captures: boolean

  constructor(looks: Array<Look>, captures: boolean) {
    this.looks = looks
    this.captures = captures
  }

  emit<S extends Step>(step: S): S {
    if (this.steps.length >= MAX_STEPS) throw new TooLarge()
    this.steps.push(step)
    return step
  }

  get here(): number {
    return this.steps.length
  }

  compile(pattern: Pattern): void {
    switch (pattern.kind) {
      case "empty":
        return
      case "class":
        this.emit({ op: "char", chars: pattern.chars })
        return
      case "concat":
        for (const item of pattern.items) this.compile(item)
        return
      case "alternate":
        this.alternate(pattern.items)
        return
      case "repeat":
        this.repeat(pattern)
        return
      case "group":
        if (!this.captures) {
          this.compile(pattern.item)
          return
        }
        this.emit({ op: "save", slot: pattern.index * 2 })
        this.compile(pattern.item)
        this.emit({ op: "save", slot: pattern.index * 2 + 1 })
        return
      case "assert":
        this.emit({ op: "assert", assertion: pattern.assertion, word: pattern.word })
        return
      case "look": {
        const inner = new Compiler(this.looks, false)
        inner.compile(pattern.ahead ? reversed(pattern.item) : pattern.item)
        inner.emit({ op: "match" })
        this.emit({
          op: "look",
          index: this.looks.push({ ahead: pattern.ahead, steps: inner.steps }) - 1,
          negated: pattern.negated,
        })
      }
    }
  }

  alternate(items: ReadonlyArray<Pattern>): void {
    const exits: Array<{ to: number }> = []
    for (const [at, item] of items.entries()) {
      if (at === items.length - 1) {
        this.compile(item)
        break
      }
      const split = this.emit({ op: "split", first: 0, second: 0 })
      split.first = this.here
      this.compile(item)
      exits.push(this.emit({ op: "jump", to: 0 }))
      split.second = this.here
    }
    for (const exit of exits) exit.to = this.here
  }

  repeat({ greedy, item, max, min }: Pattern & { kind: "repeat" }): void {
    const fork = (): { enter: () => void; leave: () => void } => {
      const split = this.emit({ op: "split", first: 0, second: 0 })
      const set = (side: "first" | "second") => () => {
        split[side] = this.here
      }
      return greedy ? { enter: set("first"), leave: set("second") } : { enter: set("second"), leave: set("first") }
    }
    if (item.kind === "empty") return
    if (max === Number.POSITIVE_INFINITY) {
      for (let count = 1; count < min; count++) this.compile(item)
      const skip = min === 0 ? fork() : undefined
      skip?.enter()
      const back = this.here
      this.compile(item)
      const again = this.emit({ op: "split", first: back, second: back })
      again[greedy ? "second" : "first"] = this.here
      skip?.leave()
      return
    }
    for (let count = 0; count < min; count++) this.compile(item)
    const leaves: Array<() => void> = []
    for (let count = min; count < max; count++) {
      const { enter, leave } = fork()
      enter()
      this.compile(item)
      leaves.push(leave)
    }
    for (const leave of leaves) leave()
  }
}

/** The characters a match may begin with, looking through assertions, and whether it can begin anywhere but at the start of the text. */
const beginnings = (steps: ReadonlyArray<Step>): Pick<Program, "firsts" | "anchored"> => {
  const firsts = new Set<CharClass>()
  const walk = (through: boolean): { empty: boolean; some: boolean } => {
    const seen = new Set<number>()
    const open = [0]
    const reach = { empty: false, some: false }
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      if (seen.has(pc)) continue
      seen.add(pc)
      const step = steps[pc]!
      if (step.op === "jump") open.push(step.to)
      else if (step.op === "split") open.push(step.first, step.second)
      else if (step.op === "char") {
        reach.some = true
        if (through) firsts.add(step.chars)
      } else if (step.op === "match") {
        reach.some = true
        reach.empty = true
      } else if (through || step.op !== "assert" || step.assertion !== "text_start") open.push(pc + 1)
    }
    return reach
  }
  const anchored = !walk(false).some
  return { anchored, firsts: walk(true).empty ? undefined : [...firsts] }
}

/** A parsed pattern as instructions, or undefined when it would be too large. */
export const compileProgram = ({ groups, pattern }: Parsed): Program | undefined => {
  const looks: Array<Look> = []
  const compiler = new Compiler(looks, true)
  try {
    compiler.emit({ op: "save", slot: 0 })
    compiler.compile(pattern)
    compiler.emit({ op: "save", slot: 1 })
    compiler.emit({ op: "match" })
  } catch (cause) {
    if (cause instanceof TooLarge) return undefined
    throw cause
  }
  return { steps: compiler.steps, slots: (groups + 1) * 2, looks, ...beginnings(compiler.steps) }
}
