import * as Result from "effect/Result"

const holds = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Where the first byte stands that belongs to no character, in bytes that are not UTF-8. */
const offence = (bytes: Uint8Array): number => {
  let good = 0
  let bad = bytes.length + 1
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (holds(bytes.subarray(0, middle))) good = middle
    else bad = middle
  }
  const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, good), { stream: true })
  return new TextEncoder().encode(whole).length
}

/** The text of bytes, a byte order mark included; fails with the offset of the first byte that is not UTF-8. Nothing is replaced. */
export const decode = (bytes: Uint8Array): Result.Result<string, number> => {
  try {
    return Result.succeed(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return Result.fail(offence(bytes))
  }
}

/** What is wrong with bytes that {@link decode} refused, in words. */
export const refusal = (offset: number): string => `it is not UTF-8: the byte at offset ${offset} belongs to no character`

export * as Utf8 from "./Utf8.ts"
