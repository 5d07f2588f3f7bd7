import { CharClass, literal } from "./CharClass.ts"
import { classSource, escape } from "./ClassParser.ts"
import { type Dialect, dot, type Flags, flagNames, initialFlags, shorthand } from "./Dialect.ts"
import { type Assertion, concat, flagsOnly, type Parsed, type Pattern, type PatternError } from "./Pattern.ts"
import { Reader, reading } from "./Reader.ts"

const MAX_DEPTH = 100
const MAX_REPEAT = 100_000
const groupNames: { readonly [D in Dialect]: RegExp } = {
  rust: /[_\p{Alphabetic}][_.[\]\p{Alphabetic}\p{N}]*(?=>)/uy,
  ecma: /[$_\p{ID_Start}][$\p{ID_Continue}]*(?=>)/uy,
}

class PatternParser {
  readonly reader: Reader
  readonly dialect: Dialect
  readonly names = new Map<string, number>()
  groups = 0
  flags: Flags = initialFlags
  depth = 0
  readonly #classes = new Map<string, CharClass>()
  /** Different classes that are more than one character. */
  classes = 0

  constructor(source: string, dialect: Dialect) {
    this.reader = new Reader(source)
    this.dialect = dialect
  }

  chars(source: string): CharClass {
    const { ignoreCase, unicode } = this.flags
    const fold = !ignoreCase ? "none" : unicode || this.dialect === "ecma" ? "unicode" : "ascii"
    const key = `${fold}${source}`
    const known = this.#classes.get(key)
    if (known !== undefined) return known
    if (!/^\[\\u\{[0-9a-f]+\}\]$/.test(source)) this.classes++
    const made = new CharClass(source, fold)
    this.#classes.set(key, made)
    return made
  }

  /** A class of single characters, which without Unicode has to stay within ASCII: beyond it there are only bytes. */
  single(source: string, start: number): Pattern {
    const chars = this.chars(source)
    if (!this.flags.unicode && chars.has(0xff)) return this.reader.fail("without Unicode this can match invalid text", start)
    return { kind: "class", chars }
  }

  space(): void {
    if (this.flags.extended) this.reader.match(/(?:\s|#[^\n]*(?:\n|$))*/y)
  }

  alternatives(): Pattern {
    if (++this.depth > MAX_DEPTH) return this.reader.fail("groups are nested too deeply")
    const branches = [this.sequence()]
    while (this.reader.take("|")) branches.push(this.sequence())
    this.depth--
    return branches.length === 1 ? branches[0]! : { kind: "alternate", items: branches }
  }

  sequence(): Pattern {
    const items: Array<Pattern> = []
    for (;;) {
      this.space()
      const { char, done } = this.reader
      if (done || char === "|" || char === ")") return concat(items)
      const item = this.quantified(this.atom())
      if (item.kind !== "empty") items.push(item)
    }
  }

  quantified(item: Pattern): Pattern {
    const { reader } = this
    let so = item
    for (;;) {
      this.space()
      const start = reader.at
      const bounds = this.bounds()
      if (bounds === undefined) return so
      if (item === flagsOnly) return reader.fail("nothing to repeat", start)
      const lazy = reader.take("?")
      const [min, max] = bounds
      if (max < min) return reader.fail("a repetition ends before it begins", start)
      if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEAT))
        return reader.fail("a repetition is too large", start)
      so = { kind: "repeat", item: so, min, max, greedy: lazy === this.flags.swapGreed }
    }
  }

  bounds(): readonly [number, number] | undefined {
    const { reader } = this
    if (reader.take("*")) return [0, Number.POSITIVE_INFINITY]
    if (reader.take("+")) return [1, Number.POSITIVE_INFINITY]
    if (reader.take("?")) return [0, 1]
    if (!reader.looking("{")) return undefined
    const found = reader.match(/\{\s*(\d*)\s*(,?)\s*(\d*)\s*\}/y)
    if (found === undefined || found[1] === "") return reader.fail("not a repetition")
    const min = Number(found[1])
    return [min, found[2] === "" ? min : found[3] === "" ? Number.POSITIVE_INFINITY : Number(found[3])]
  }

  assertion(assertion: Assertion): Pattern {
    const wordly = assertion.includes("word")
    const source = this.dialect === "ecma" ? "[\\w]" : shorthand("rust", "w", this.flags)
    return { kind: "assert", assertion, word: wordly ? this.chars(source) : undefined }
  }

  atom(): Pattern {
    const { dialect, reader } = this
    const start = reader.at
    const code = reader.next()
    switch (String.fromCodePoint(code)) {
      case "(":
        return this.group(start)
      case "[":
        return this.single(classSource(reader, dialect, this.flags), start)
      case ".":
        if (!this.flags.unicode) return reader.fail("`.` without Unicode can match invalid text", start)
        return { kind: "class", chars: this.chars(dot(dialect, this.flags)) }
      case "^":
        return this.assertion(!this.flags.multiline ? "text_start" : this.flags.crlf ? "crlf_start" : "line_start")
      case "$":
        return this.assertion(!this.flags.multiline ? "text_end" : this.flags.crlf ? "crlf_end" : "line_end")
      case "*":
      case "+":
      case "?":
      case "{":
        return reader.fail("nothing to repeat", start)
      case "\\":
        return this.escaped(start)
      default:
        return { kind: "class", chars: this.chars(`[${literal(code)}]`) }
    }
  }

  escaped(start: number): Pattern {
    const { dialect, reader } = this
    if (dialect === "rust") {
      if (reader.take("A")) return this.assertion("text_start")
      if (reader.take("z")) return this.assertion("text_end")
      if (reader.take("<")) return this.assertion("word_start")
      if (reader.take(">")) return this.assertion("word_end")
      const special = reader.match(/b\{(start|end|start-half|end-half)\}/y)
      if (special !== undefined) return this.assertion(`word_${special[1]!.replace("-", "_")}` as Assertion)
    } else if (reader.looking("k")) return reader.fail("backreferences are not supported", start)
    if (reader.take("b")) return this.assertion("word")
    if (reader.take("B")) return this.assertion("not_word")
    const found = escape(reader, dialect, this.flags)
    if ("chars" in found) return this.single(found.chars, start)
    return { kind: "class", chars: this.chars(`[${literal(found.code)}]`) }
  }

  group(start: number): Pattern {
    const { reader } = this
    const outer = this.flags
    if (!reader.take("?")) return this.capture(undefined, outer, start)
    const look = reader.match(/<?[=!]/y)?.[0]
    if (look !== undefined) return this.look(look, start)
    if (reader.take("P<") || reader.take("<")) {
      const name = reader.match(groupNames[this.dialect])?.[0]
      if (name === undefined || !reader.take(">")) return reader.fail("not a group name", start)
      if (this.names.has(name)) return reader.fail(`the group \`${name}\` exists already`, start)
      return this.capture(name, outer, start)
    }
    this.setFlags(start)
    if (reader.take(")")) return flagsOnly
    if (!reader.take(":")) return reader.fail("not a group", start)
    const item = this.alternatives()
    this.close(start)
    this.flags = outer
    return item
  }

  capture(name: string | undefined, outer: Flags, start: number): Pattern {
    const index = ++this.groups
    if (name !== undefined) this.names.set(name, index)
    const item = this.alternatives()
    this.close(start)
    this.flags = outer
    return { kind: "group", index, item }
  }

  close(start: number): void {
    if (!this.reader.take(")")) this.reader.fail("the group is not closed", start)
  }

  look(mark: string, start: number): Pattern {
    if (this.dialect === "rust") return this.reader.fail("look-around is not supported", start)
    const outer = this.flags
    const item = this.alternatives()
    this.close(start)
    this.flags = outer
    return { kind: "look", ahead: !mark.startsWith("<"), negated: mark.endsWith("!"), item }
  }

  setFlags(start: number): void {
    const { reader } = this
    const seen = new Set<string>()
    let value = true
    let count = 0
    while (!reader.looking(":") && !reader.looking(")")) {
      const letter = String.fromCodePoint(reader.next())
      const name = Object.hasOwn(flagNames, letter) ? flagNames[letter] : undefined
      if (letter === "-" && value) value = false
      else if (name === undefined) reader.fail(`unknown flag \`${letter}\``, start)
      else if (seen.has(letter)) reader.fail(`the flag \`${letter}\` is given twice`, start)
      else this.flags = { ...this.flags, [name]: value }
      seen.add(letter)
      count++
    }
    if (!value && reader.source[reader.at - 1] === "-") reader.fail("no flag to switch off", start)
    if (count === 0 && reader.looking(")")) reader.fail("nothing to repeat", start)
  }
}

/** Reads a pattern of a dialect. Never throws. */
export const parsePattern = (source: string, dialect: Dialect): Parsed | PatternError =>
  reading(() => {
    const parser = new PatternParser(source, dialect)
    const pattern = parser.alternatives()
    if (!parser.reader.done) parser.reader.fail("a group is closed that was not opened")
    return { pattern, groups: parser.groups, names: parser.names, classes: parser.classes }
  })
