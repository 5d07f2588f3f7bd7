import type { CharClass } from "./CharClass.ts"
import { type Assertion, type Parsed, type Pattern, reversed } from "./Pattern.ts"

type Step =
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

const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff

const before = (text: string, at: number): number | undefined => {
  if (at === 0) return undefined
  const unit = text.charCodeAt(at - 1)
  return isLow(unit) && at > 1 && isHigh(text.charCodeAt(at - 2)) ? text.codePointAt(at - 2) : unit
}

const isWord = (code: number | undefined, word: CharClass) => code !== undefined && word.has(code)

const holds = (assertion: Assertion, word: CharClass | undefined, text: string, at: number): boolean => {
  switch (assertion) {
    case "text_start":
      return at === 0
    case "text_end":
      return at === text.length
    case "line_start":
      return at === 0 || text[at - 1] === "\n"
    case "line_end":
      return at === text.length || text[at] === "\n"
    case "crlf_start":
      return at === 0 || text[at - 1] === "\n" || (text[at - 1] === "\r" && text[at] !== "\n")
    case "crlf_end":
      return at === text.length || text[at] === "\r" || (text[at] === "\n" && text[at - 1] !== "\r")
  }
  const left = isWord(before(text, at), word!)
  const right = isWord(text.codePointAt(at), word!)
  switch (assertion) {
    case "word":
      return left !== right
    case "not_word":
      return left === right
    case "word_start":
      return !left && right
    case "word_end":
      return left && !right
    case "word_start_half":
      return !left
    case "word_end_half":
      return !right
  }
}

type Captures = Array<number>

/** Instructions tried in one search of one text, over all its matches, before it is given up. */
export const MAX_WORK = 20_000_000

/** A search was given up after {@link MAX_WORK}. */
export class GaveUp extends Error {
  override readonly message = `the search took more than ${MAX_WORK} steps`
}

/** One text under one program: threads in order of preference, each instruction visited once per position, so time is linear in the text. */
export class Matcher {
  readonly #program: Program
  readonly #text: string
  readonly #held: Array<Uint8Array | undefined> = []
  readonly #marks: Float64Array
  #round = 0
  #work = 0

  constructor(program: Program, text: string) {
    this.#program = program
    this.#text = text
    this.#marks = new Float64Array(program.steps.length)
  }

  /** Steps taken so far. */
  get work(): number {
    return this.#work
  }

  #count(work: number): void {
    this.#work += work
    if (this.#work > MAX_WORK) throw new GaveUp()
  }

  /** The positions at which a look-around holds. */
  #positions(index: number): Uint8Array {
    const known = this.#held[index]
    if (known !== undefined) return known
    const { ahead, steps } = this.#program.looks[index]!
    const text = this.#text
    const held = new Uint8Array(text.length + 1)
    this.#held[index] = held
    const marks = new Uint32Array(steps.length)
    let current: Array<number> = []
    let at = ahead ? text.length : 0
    for (let round = 1; ; round++) {
      this.#reach(steps, 0, at, round, marks, current)
      this.#count(current.length + 1)
      if (current.some((pc) => steps[pc]!.op === "match")) held[at] = 1
      const code = ahead ? before(text, at) : text.codePointAt(at)
      if (code === undefined) return held
      at += (ahead ? -1 : 1) * (code > 0xffff ? 2 : 1)
      const next: Array<number> = []
      for (const pc of current) {
        const step = steps[pc]!
        if (step.op === "char" && step.chars.has(code)) this.#reach(steps, pc + 1, at, round + 1, marks, next)
      }
      current = next
    }
  }

  #reach(steps: ReadonlyArray<Step>, from: number, at: number, round: number, marks: Uint32Array, out: Array<number>): void {
    const open = [from]
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      if (marks[pc] === round) continue
      marks[pc] = round
      const step = steps[pc]!
      if (step.op === "jump") open.push(step.to)
      else if (step.op === "split") open.push(step.second, step.first)
      else if (step.op === "save") open.push(pc + 1)
      else if (step.op === "assert" || step.op === "look") {
        if (this.#passes(step, at)) open.push(pc + 1)
      } else out.push(pc)
    }
  }

  #passes(step: Step & { op: "assert" | "look" }, at: number): boolean {
    if (step.op === "assert") return holds(step.assertion, step.word, this.#text, at)
    return (this.#positions(step.index)[at] === 1) !== step.negated
  }

  /** Follows what consumes nothing from `start`, adding threads in order of preference. */
  #add(start: number, at: number, seed: Captures, threads: Array<number>, captures: Array<Captures>): void {
    const { steps } = this.#program
    const marks = this.#marks
    const round = this.#round
    const stack = [start]
    const saved = [seed]
    for (let from = stack.pop(); from !== undefined; from = stack.pop()) {
      let pc = from
      let own = saved.pop()!
      while (marks[pc] !== round) {
        marks[pc] = round
        const step = steps[pc]!
        if (step.op === "jump") pc = step.to
        else if (step.op === "split") {
          stack.push(step.second)
          saved.push(own)
          pc = step.first
        } else if (step.op === "save") {
          own = own.slice()
          own[step.slot] = at
          pc++
        } else if (step.op === "assert" || step.op === "look") {
          if (!this.#passes(step, at)) break
          pc++
        } else {
          threads.push(pc)
          captures.push(own)
        }
      }
    }
  }

  #skip(from: number): number {
    const { firsts } = this.#program
    const text = this.#text
    if (firsts === undefined) return from
    let at = from
    while (at < text.length) {
      const code = text.codePointAt(at)!
      for (const chars of firsts) if (chars.has(code)) return at
      at += code > 0xffff ? 2 : 1
    }
    return at
  }

  /** The leftmost match at or after `from`: its slots, -1 where a group took no part. Throws {@link GaveUp}. */
  exec(from: number): Captures | undefined {
    const text = this.#text
    const { anchored, firsts, slots, steps } = this.#program
    const blank: Captures = new Array<number>(slots).fill(-1)
    let threads: Array<number> = []
    let captures: Array<Captures> = []
    let nextThreads: Array<number> = []
    let nextCaptures: Array<Captures> = []
    let found: Captures | undefined
    let at = from
    this.#round++
    for (;;) {
      if (threads.length === 0) {
        if (found !== undefined || (anchored && at > 0)) return found
        const skipped = this.#skip(at)
        this.#count(skipped - at)
        if (skipped >= text.length && firsts !== undefined) return undefined
        at = skipped
      }
      if (found === undefined && !(anchored && at > 0)) this.#add(0, at, blank, threads, captures)
      this.#count(threads.length + 1)
      const code = text.codePointAt(at)
      const to = at + (code !== undefined && code > 0xffff ? 2 : 1)
      this.#round++
      for (let index = 0; index < threads.length; index++) {
        const pc = threads[index]!
        const step = steps[pc]!
        if (step.op === "match") {
          found = captures[index]
          break
        }
        if (code !== undefined && step.op === "char" && step.chars.has(code))
          this.#add(pc + 1, to, captures[index]!, nextThreads, nextCaptures)
      }
      if (code === undefined) return found
      threads.length = 0
      captures.length = 0
      ;[threads, nextThreads] = [nextThreads, threads]
      ;[captures, nextCaptures] = [nextCaptures, captures]
      at = to
    }
  }
}
