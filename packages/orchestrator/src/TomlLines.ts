/** Where the keys of a TOML document stand: dotted path, as JSON of its parts, to the 1-based line of its first mention. */
export type TomlLines = ReadonlyMap<string, number>

const bare = /[A-Za-z0-9_-]/
const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
}

class Cursor {
  at = 0
  line = 1
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
  get next(): string {
    return this.source[this.at] ?? ""
  }
  take(): string {
    const letter = this.next
    this.at++
    if (letter === "\n") this.line++
    return letter
  }
  get done(): boolean {
    return this.at >= this.source.length
  }
  skipBlanks(): void {
    while (this.next === " " || this.next === "\t") this.take()
  }
  skipLine(): void {
    while (!this.done && this.next !== "\n") this.take()
  }
}

const takeString = (cursor: Cursor): string => {
  const quote = cursor.take()
  const long = cursor.source.startsWith(quote + quote, cursor.at)
  const end = long ? quote.repeat(3) : quote
  if (long) cursor.at += 2
  let text = ""
  while (!cursor.done && !cursor.source.startsWith(end, cursor.at) && (long || cursor.next !== "\n")) {
    const letter = cursor.take()
    if (letter !== "\\" || quote === "'") text += letter
    else {
      const escaped = cursor.take()
      text += escapes[escaped] ?? escaped
    }
  }
  for (let count = 0; count < end.length && cursor.next === quote; count++) cursor.take()
  return text
}

const takeKey = (cursor: Cursor): Array<string> => {
  const parts: Array<string> = []
  for (;;) {
    cursor.skipBlanks()
    if (cursor.next === '"' || cursor.next === "'") parts.push(takeString(cursor))
    else {
      let part = ""
      while (bare.test(cursor.next)) part += cursor.take()
      if (part === "") return parts
      parts.push(part)
    }
    cursor.skipBlanks()
    if (cursor.next !== ".") return parts
    cursor.take()
  }
}

const skipValue = (cursor: Cursor): void => {
  let open = 0
  while (!cursor.done) {
    const letter = cursor.next
    if (letter === '"' || letter === "'") takeString(cursor)
    else if (letter === "#") cursor.skipLine()
    else if (letter === "\n" && open === 0) return
    else {
      if (letter === "[" || letter === "{") open++
      if (letter === "]" || letter === "}") open--
      cursor.take()
    }
  }
}

/** Reads the positions of a document that has been parsed already; keys inside inline tables and arrays stand at the key before them. */
export const locate = (source: string): TomlLines => {
  const lines = new Map<string, number>()
  const note = (path: ReadonlyArray<string>, line: number) => {
    for (let length = 1; length <= path.length; length++) {
      const key = JSON.stringify(path.slice(0, length))
      if (!lines.has(key)) lines.set(key, line)
    }
  }
  const cursor = new Cursor(source)
  let table: ReadonlyArray<string> = []
  while (!cursor.done) {
    cursor.skipBlanks()
    const line = cursor.line
    if (cursor.next === "[") {
      while (cursor.next === "[") cursor.take()
      table = takeKey(cursor)
      note(table, line)
      cursor.skipLine()
    } else if (cursor.next !== "#" && cursor.next !== "\n" && cursor.next !== "\r") {
      note([...table, ...takeKey(cursor)], line)
      skipValue(cursor)
    } else cursor.skipLine()
    cursor.take()
  }
  return lines
}

/** The line of `path`, else of the nearest table that holds it, else `undefined`. */
export const lineOf = (lines: TomlLines, path: ReadonlyArray<string>): number | undefined => {
  for (let length = path.length; length > 0; length--) {
    const line = lines.get(JSON.stringify(path.slice(0, length)))
    if (line !== undefined) return line
  }
  return undefined
}
