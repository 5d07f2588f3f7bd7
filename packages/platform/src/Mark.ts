import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** The variable that holds the marks of a process, the outermost parent's first. */
export const variable = "KIT_CHILD_MARK"

const separator = ":"

/** A mark that no other start of a program shares. */
export const freshMark: Effect.Effect<string> = Effect.gen(function* () {
  const parts: Array<string> = []
  for (let n = 0; n < 4; n++) parts.push((yield* Random.nextIntBetween(0, 0xffff_ffff)).toString(36).padStart(7, "0"))
  return `kit-${parts.join("")}`
})

/** The environment with one more mark on top of those it, or else this program, carries. */
export const withMark = (
  env: Readonly<Record<string, string>>,
  own: string | undefined,
  mark: string,
): Readonly<Record<string, string>> => {
  const below = env[variable] ?? own
  return { ...env, [variable]: below === undefined || below === "" ? mark : `${below}${separator}${mark}` }
}

/** The marks in one entry of an environment, `NAME=value`; none where it is another variable. */
export const marksIn = (entry: string): ReadonlyArray<string> =>
  entry.startsWith(`${variable}=`) ? entry.slice(variable.length + 1).split(separator) : []

export * as Mark from "./Mark.ts"
