import * as Fs from "node:fs"
import * as Result from "effect/Result"
import { Utf8 } from "./Utf8.ts"

const words = (): ReadonlyArray<Uint8Array> => {
  try {
    const all = Fs.readFileSync("/proc/self/cmdline")
    const found: Array<Uint8Array> = []
    for (let from = 0, to = all.indexOf(0); to >= 0; from = to + 1, to = all.indexOf(0, from)) found.push(all.subarray(from, to))
    return found
  } catch {
    return []
  }
}

/**
 * What is wrong with the first word of this process's command line that is not UTF-8, in words. A runtime hands it over with its bytes
 * replaced, so what a program would work with is not what was typed. `undefined` where all is well, or where the system does not tell.
 */
export const damage = (): string | undefined => {
  if (!process.argv.some((word) => word.includes("\ufffd"))) return undefined
  for (const word of words()) {
    const decoded = Utf8.decode(word)
    if (Result.isSuccess(decoded)) continue
    const shown = new TextDecoder().decode(word)
    return `could not read the argument ${JSON.stringify(shown.length > 60 ? `${shown.slice(0, 60)}…` : shown)}: ${Utf8.refusal(decoded.failure)}`
  }
  return undefined
}

export * as Argv from "./Argv.ts"
