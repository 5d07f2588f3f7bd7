import * as Result from "effect/Result"

/** How a flag or a parameter turns the texts it was given into a value; the failure is the end of the sentence `--name …`. */
export type Read<A> = (texts: ReadonlyArray<string>) => Result.Result<A, string>

/** One flag of a command. Its name is its key in {@link Command.flags}, without the dashes. */
export interface Flag<out A> {
  /** `switch` takes no value, `once` one, `many` one each time it stands. */
  readonly arity: "switch" | "once" | "many"
  /** One letter, without the dash. */
  readonly short: string | undefined
  /** What stands for the value in help texts; empty for a switch. */
  readonly placeholder: string
  readonly summary: string
  /** What holds when the flag is absent, for people. */
  readonly fallback: string | undefined
  /** The only values there are, for completions. */
  readonly choices: ReadonlyArray<string>
  readonly read: Read<A>
}

/** One positional parameter. Its name is its key in {@link Command.parameters}. */
export interface Parameter<out A> {
  readonly required: boolean
  /** Takes all that is left; only the last parameter of a command may. */
  readonly many: boolean
  readonly summary: string
  readonly read: Read<A>
}

interface About {
  readonly summary: string
  readonly short?: string
  readonly fallback?: string
}

interface AboutValue extends About {
  readonly placeholder: string
}

const flag = <A>(
  arity: Flag<A>["arity"],
  about: About & { readonly placeholder?: string },
  read: Read<A>,
  choices: ReadonlyArray<string> = [],
): Flag<A> => ({
  arity,
  short: about.short,
  placeholder: about.placeholder ?? "",
  summary: about.summary,
  fallback: about.fallback,
  choices,
  read,
})

/** True where the flag stands. */
export const toggle = (about: About): Flag<boolean> => flag("switch", about, (texts) => Result.succeed(texts.length > 0))

/** No flag and no parameter has a use for a text without a character; most often a variable of a script was unset. */
const filled = <A>(texts: ReadonlyArray<string>, value: A): Result.Result<A, string> =>
  texts.includes("") ? Result.fail("is empty") : Result.succeed(value)

/** The text as it stands, at most once; never empty. */
export const text = (about: AboutValue): Flag<string | undefined> => flag("once", about, (texts) => filled(texts, texts[0]))

/** All texts in the order they stand; none is empty. */
export const texts = (about: AboutValue): Flag<ReadonlyArray<string>> => flag("many", about, (given) => filled(given, given))

/** Each text turned into a value, in the order they stand. */
export const each = <A>(about: AboutValue, read: (text: string) => Result.Result<A, string>): Flag<ReadonlyArray<A>> =>
  flag("many", about, (given) => Result.all(given.map(read)))

/** A whole number from 0, at most once. */
export const count = (about: AboutValue): Flag<number | undefined> =>
  flag("once", about, ([given]) => {
    if (given === undefined) return Result.succeed(undefined)
    return /^\d{1,15}$/.test(given)
      ? Result.succeed(Number(given))
      : Result.fail(`is a whole number, not ${JSON.stringify(given)}`)
  })

/** One of a few words. */
export const choice = <const A extends string>(about: About, choices: ReadonlyArray<A>): Flag<A | undefined> =>
  flag(
    "once",
    { ...about, placeholder: choices.join("|") },
    ([given]) => {
      if (given === undefined) return Result.succeed(undefined)
      const found = choices.find((word) => word === given)
      return found === undefined
        ? Result.fail(`is one of ${choices.join(", ")}, not ${JSON.stringify(given)}`)
        : Result.succeed(found)
    },
    choices,
  )

/** A parameter that must stand, and not be empty. */
export const required = (summary: string): Parameter<string> => ({
  required: true,
  many: false,
  summary,
  read: ([given]) => (given === undefined ? Result.fail("is missing") : filled([given], given)),
})

/** The last parameter, which stands once or more, never empty. */
export const several = (summary: string): Parameter<ReadonlyArray<string>> => ({
  required: true,
  many: true,
  summary,
  read: (given) => (given.length === 0 ? Result.fail("is missing") : filled(given, given)),
})

/** A parameter that is one of a few words. */
export const oneOf = <const A extends string>(summary: string, words: ReadonlyArray<A>): Parameter<A> => ({
  required: true,
  many: false,
  summary,
  read: ([given]) => {
    const found = words.find((word) => word === given)
    if (found !== undefined) return Result.succeed(found)
    return Result.fail(given === undefined ? "is missing" : `is one of ${words.join(", ")}, not ${JSON.stringify(given)}`)
  },
})

/** A parameter that may be left out, but not be empty. */
export const optional = (summary: string): Parameter<string | undefined> => ({
  required: false,
  many: false,
  summary,
  read: (given) => filled(given, given[0]),
})

export * as Flag from "./Flag.ts"
