/** What stands in place of a secret, as a JSON string. */
export const marker = "[redacted]"

const markerText = JSON.stringify(marker)

/** JSON-RPC error code of ACP's `auth_required`. */
const authRequired = -32000

const deepest = 512

interface Span {
  readonly start: number
  readonly end: number
}

/**
 * A frame's text with its secrets replaced by {@link marker} (K04): message and data of an `auth_required` error, and every value under `env` and `headers`
 * of MCP servers. Every other byte stays as it was, but that what is nested deeper than 512 levels is replaced too. `undefined` where the text is no JSON.
 */
export const redact = (frame: string): string | undefined => {
  try {
    JSON.parse(frame)
  } catch {
    return undefined
  }
  if (!/"(mcpServers|error|\\u)/.test(frame) && !frame.includes("\\u")) return frame
  const spans: Array<Span> = []
  new Walker(frame, spans).value([])
  let out = ""
  let from = 0
  for (const { start, end } of spans) {
    out += frame.slice(from, start) + markerText
    from = end
  }
  return out + frame.slice(from)
}

type Path = ReadonlyArray<string | number>

/** Walks a text that is known to be JSON and notes the spans to replace, in order. */
class Walker {
  private at = 0
  private readonly text: string
  private readonly spans: Array<Span>
  constructor(text: string, spans: Array<Span>) {
    this.text = text
    this.spans = spans
  }

  value(path: Path): void {
    this.space()
    const start = this.at
    const first = this.text[start]
    if (path.length >= deepest && (first === "{" || first === "[")) {
      this.skip()
      this.cover({ start, end: this.at })
      return
    }
    if (first === "{") {
      const before = this.spans.length
      const members = this.object(path)
      if (path[path.length - 1] === "error" && members.code === authRequired) {
        this.spans.length = before
        for (const span of [members.message, members.data].filter((span) => span !== undefined).sort((a, b) => a.start - b.start))
          this.spans.push(span)
      }
    } else if (first === "[") this.array(path)
    else if (first === '"') this.string()
    else this.scalar()
    if (isSecret(path, first)) this.cover({ start, end: this.at })
  }

  private cover(span: Span): void {
    while (this.spans.length > 0 && (this.spans[this.spans.length - 1] as Span).start >= span.start) this.spans.pop()
    this.spans.push(span)
  }

  private object(path: Path): { code?: number; message?: Span; data?: Span } {
    const members: { code?: number; message?: Span; data?: Span } = {}
    this.at++
    this.space()
    while (this.text[this.at] !== "}") {
      this.space()
      const key = JSON.parse(this.string()) as string
      this.space()
      this.at++
      this.space()
      const start = this.at
      this.value([...path, key])
      const span = { start, end: this.at }
      if (key === "code") members.code = Number(this.text.slice(start, this.at))
      if (key === "message") members.message = span
      if (key === "data") members.data = span
      this.space()
      if (this.text[this.at] === ",") this.at++
      this.space()
    }
    this.at++
    return members
  }

  private array(path: Path): void {
    this.at++
    this.space()
    for (let index = 0; this.text[this.at] !== "]"; index++) {
      this.value([...path, index])
      this.space()
      if (this.text[this.at] === ",") this.at++
      this.space()
    }
    this.at++
  }

  /** Passes over an object or an array, however deep it is. */
  private skip(): void {
    for (let open = 0; ; ) {
      const at = this.text[this.at]
      if (at === '"') this.string()
      else this.at++
      if (at === "{" || at === "[") open++
      else if ((at === "}" || at === "]") && --open === 0) return
    }
  }

  private string(): string {
    const start = this.at++
    while (this.text[this.at] !== '"') this.at += this.text[this.at] === "\\" ? 2 : 1
    this.at++
    return this.text.slice(start, this.at)
  }

  private scalar(): void {
    while (this.at < this.text.length && !/[\s,\]}]/.test(this.text[this.at] as string)) this.at++
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at++
  }
}

/** A leaf below `mcpServers … env|headers`, unless it is the `name` of a name and value pair. */
const isSecret = (path: Path, first: string | undefined): boolean => {
  if (first === "{" || first === "[") return false
  const servers = path.indexOf("mcpServers")
  if (servers < 0) return false
  const place = path.findIndex((key, index) => index > servers && (key === "env" || key === "headers"))
  if (place < 0 || place === path.length - 1) return place >= 0
  const isName = path.length === place + 3 && typeof path[place + 1] === "number" && path[place + 2] === "name"
  return !isName
}
