import { sha256, toHex } from "./Sha256.ts"
import { utf8Length } from "./Span.ts"
import { Float, isInteger, List, Obj, sortedKeys, type Value } from "./Value.ts"

const text = new TextEncoder()

/** UTF-8; a lone surrogate, which UTF-8 has not, as the three bytes it would have, so that no two texts share an encoding. */
const utf8 = (value: string): Uint8Array => {
  if (value.isWellFormed()) return text.encode(value)
  const bytes = new Uint8Array(utf8Length(value))
  let length = 0
  for (const char of value) {
    const code = char.codePointAt(0)!
    const lone = code >= 0xd800 && code <= 0xdfff
    const part = lone ? [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)] : text.encode(char)
    bytes.set(part, length)
    length += part.length
  }
  return bytes
}

class Writer {
  bytes = new Uint8Array(256)
  length = 0

  #room(count: number): void {
    if (this.length + count <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  byte(value: number): void {
    this.#room(1)
    this.bytes[this.length++] = value
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  leb(value: bigint): void {
    let rest = value
    while (rest >= 0x80n) {
      this.byte(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.byte(Number(rest))
  }

  double(value: number): void {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setFloat64(0, value)
    this.raw(bytes)
  }

  string(value: string): void {
    const bytes = utf8(value)
    this.byte(0x20)
    this.leb(BigInt(bytes.length))
    this.raw(bytes)
  }

  value(value: Value): void {
    if (value === null) this.byte(0x00)
    else if (typeof value === "boolean") this.byte(value ? 0x02 : 0x01)
    else if (typeof value === "string") this.string(value)
    else if (isInteger(value)) {
      const wide = BigInt(value)
      this.byte(0x10)
      this.leb(wide >= 0n ? wide << 1n : (-wide << 1n) - 1n)
    } else if (value instanceof Float) {
      this.byte(0x11)
      this.double(value.value)
    } else if (value instanceof List) {
      this.byte(0x30)
      this.leb(BigInt(value.length))
      for (const item of value) this.value(item)
    } else if (value instanceof Obj) {
      this.byte(0x31)
      this.leb(BigInt(value.count))
      for (const key of sortedKeys(value)) {
        this.string(key)
        this.value(value.get(key)!)
      }
    } else {
      this.byte(0x21)
      this.leb(BigInt(value.length))
      this.raw(value)
    }
  }
}

/** The binary identity encoding `rcve-v1`: equal bytes exactly for values that are the same. */
export const encode = (value: Value): Uint8Array => {
  const writer = new Writer()
  writer.value(value)
  return writer.bytes.slice(0, writer.length)
}

/** SHA-256 of the identity encoding, in hexadecimal. */
export const digest = (value: Value): string => toHex(sha256(encode(value)))

export * as Identity from "./Identity.ts"
