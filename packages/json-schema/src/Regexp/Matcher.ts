import type { CharClass } from "./CharClass.ts"
import type { Assertion } from "./Pattern.ts"
import type { Program, Step } from "./Program.ts"

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
