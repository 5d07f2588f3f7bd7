import { PatternError } from "./Pattern.ts"

/** Stops a reading; caught where the reading began. */
class Stop {
  readonly error: PatternError
  constructor(error: PatternError) {
    this.error = error
  }
}

/** A position in a pattern. */
export class Reader {
  readonly source: string
  at = 0

  constructor(source: string) {
    this.source = source
  }

  get done(): boolean {
    return this.at >= this.source.length
  }

  get char(): string {
    return this.source[this.at] ?? ""
  }

  looking(text: string): boolean {
    return this.source.startsWith(text, this.at)
  }

  take(text: string): boolean {
    if (!this.looking(text)) return false
    this.at += text.length
    return true
  }

  /** The next code point. */
  next(): number {
    const code = this.source.codePointAt(this.at)
    if (code === undefined) return this.fail("the pattern ends too early")
    this.at += code > 0xffff ? 2 : 1
    return code
  }

  /** Everything up to `end`, which is taken too. */
  until(end: string, what: string): string {
    const stop = this.source.indexOf(end, this.at)
    if (stop === -1) return this.fail(`${what} is not closed`)
    const text = this.source.slice(this.at, stop)
    this.at = stop + end.length
    return text
  }

  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.source)
    if (found === null) return undefined
    this.at += found[0].length
    return found
  }

  fail(message: string, at = this.at): never {
    throw new Stop(new PatternError(message, at))
  }
}

/** Runs a reading; the error at which it stopped instead of its result. */
export const reading = <A>(read: () => A): A | PatternError => {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof Stop) return cause.error
    return new PatternError(cause instanceof Error ? cause.message : "the pattern cannot be read", 0)
  }
}
