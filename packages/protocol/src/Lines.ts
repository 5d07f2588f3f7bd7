/** A complete line of the peer, or one that cannot be one. */
export type Line = string | { readonly bad: "utf8"; readonly sample: string }

export interface Lines {
  /**
   * The lines that these bytes complete, in order, up to the first that is too long. Blank lines, a carriage return at the end and
   * a byte order mark at the beginning of a line are taken away.
   */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Line>
  /** A line was longer than the limit; nothing comes out any more. */
  readonly oversize: () => boolean
  /** What stands after the last line feed, as a line of its own. */
  readonly rest: () => ReadonlyArray<Line>
}

const lf = 0x0a
const sampleBytes = 512

/** Splits bytes at 0x0A and nowhere else, whatever the chunks; strict UTF-8; at most `limit` bytes a line. */
export const makeLines = (limit: number): Lines => {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const loose = new TextDecoder("utf-8", { ignoreBOM: true })
  let pending: Array<Uint8Array> = []
  let held = 0
  let oversize = false

  const trimmed = (text: string): string => {
    const from = text.charCodeAt(0) === 0xfeff ? 1 : 0
    const to = text.charCodeAt(text.length - 1) === 0x0d ? text.length - 1 : text.length
    return from === 0 && to === text.length ? text : text.slice(from, to)
  }

  const add = (lines: Array<Line>, text: string): void => {
    const line = trimmed(text)
    if (line.charCodeAt(0) > 0x20 || line.trim().length > 0) lines.push(line)
  }

  const one = (lines: Array<Line>, bytes: Uint8Array): void => {
    try {
      add(lines, strict.decode(bytes))
    } catch {
      lines.push({ bad: "utf8", sample: loose.decode(bytes.subarray(0, sampleBytes)) })
    }
  }

  const many = (bytes: Uint8Array): ReadonlyArray<Line> => {
    const lines: Array<Line> = []
    if (bytes.length <= limit) {
      try {
        const text = strict.decode(bytes)
        for (let at = 0; at < text.length; ) {
          const end = text.indexOf("\n", at)
          const to = end === -1 ? text.length : end
          if (to > at) add(lines, text.slice(at, to))
          at = to + 1
        }
        return lines
      } catch {
        lines.length = 0
      }
    }
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(lf, at)
      const to = end === -1 ? bytes.length : end
      if (to - at > limit) {
        oversize = true
        return lines
      }
      one(lines, bytes.subarray(at, to))
      at = to + 1
    }
    return lines
  }

  const joined = (last: Uint8Array): Uint8Array => {
    if (pending.length === 0) return last
    const all = new Uint8Array(held + last.length)
    let at = 0
    for (const part of pending) {
      all.set(part, at)
      at += part.length
    }
    all.set(last, at)
    pending = []
    held = 0
    return all
  }

  return {
    push: (chunk) => {
      if (oversize) return []
      const cut = chunk.lastIndexOf(lf)
      const lines = cut === -1 ? [] : many(joined(chunk.subarray(0, cut)))
      const tail = cut === -1 ? chunk : chunk.subarray(cut + 1)
      if (tail.length > 0) {
        pending.push(tail.slice())
        held += tail.length
      }
      if (held > limit) oversize = true
      return lines
    },
    oversize: () => oversize,
    rest: () => {
      const lines: Array<Line> = []
      if (!oversize && held > 0) one(lines, joined(new Uint8Array(0)))
      return lines
    },
  }
}
