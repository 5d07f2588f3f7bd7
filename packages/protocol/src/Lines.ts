/** A complete line of the peer, or one that cannot be one. */
export type Line = string | { readonly bad: "utf8"; readonly sample: string }

export interface Lines {
  /**
   * The lines that these bytes complete, in order, up to the first that is too long. Blank lines, a carriage return at the end and
   * a byte order mark at the beginning of a line are taken away.
   */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Line>
  /** Set once a line was longer than the limit: its beginning, at most 4 KiB. Nothing comes out any more. */
  readonly oversize: () => string | undefined
  /** Lets the line that was too long go to its line feed; gives the lines that are complete behind it, as {@link push} does. */
  readonly skip: () => ReadonlyArray<Line>
  /** What stands after the last line feed, as a line of its own. */
  readonly rest: () => ReadonlyArray<Line>
}

const lf = 0x0a
const sampleBytes = 512
const headBytes = 4096
/** What is held for the beginning of the next line without asking for memory again. */
const spareBytes = 64 * 1024
const nothing = new Uint8Array(0)
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const loose = new TextDecoder("utf-8", { ignoreBOM: true })

const concat = (first: Uint8Array, second: Uint8Array): Uint8Array => {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

/** Splits bytes at 0x0A and nowhere else, whatever the chunks; strict UTF-8; at most `limit` bytes a line. */
export const makeLines = (limit: number): Lines => {
  let pending: Uint8Array = nothing
  let held = 0
  let oversize: string | undefined
  let skipping = false
  let behind: Uint8Array = nothing

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

  const stop = (head: Uint8Array): void => {
    oversize = loose.decode(head)
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
        stop(bytes.subarray(at, Math.min(to, at + headBytes)))
        behind = bytes.subarray(to)
        return lines
      }
      one(lines, bytes.subarray(at, to))
      at = to + 1
    }
    return lines
  }

  const hold = (tail: Uint8Array): void => {
    if (held + tail.length > limit) {
      const begun = pending.subarray(0, Math.min(held, headBytes))
      stop(concat(begun, tail.subarray(0, headBytes - begun.length)))
      pending = nothing
      held = 0
      return
    }
    if (held + tail.length > pending.length) {
      const larger = new Uint8Array(Math.max(2 * pending.length, held + tail.length))
      larger.set(pending.subarray(0, held))
      pending = larger
    }
    pending.set(tail, held)
    held += tail.length
  }

  const joined = (last: Uint8Array): Uint8Array => {
    if (held === 0) return last
    const all = concat(pending.subarray(0, held), last)
    held = 0
    if (pending.length > spareBytes) pending = nothing
    return all
  }

  const push = (chunk: Uint8Array): ReadonlyArray<Line> => {
    if (oversize !== undefined) return []
    if (skipping) {
      const end = chunk.indexOf(lf)
      if (end === -1) return []
      skipping = false
      return push(chunk.subarray(end + 1))
    }
    const cut = chunk.lastIndexOf(lf)
    const lines = cut === -1 ? [] : many(joined(chunk.subarray(0, cut)))
    const tail = chunk.subarray(cut + 1)
    if (oversize === undefined) hold(tail)
    else behind = concat(behind, chunk.subarray(cut))
    return lines
  }

  return {
    push,
    oversize: () => oversize,
    skip: () => {
      const rest = behind
      oversize = undefined
      skipping = true
      behind = nothing
      return push(rest)
    },
    rest: () => {
      const lines: Array<Line> = []
      if (oversize === undefined && held > 0) one(lines, joined(nothing))
      return lines
    },
  }
}
