import { suggestion } from "@acp-kit/orchestrator/Nearest"
import * as Result from "effect/Result"
import type { Command, Entry, Flags, Group, Input, Parameters } from "./Command.ts"
import { Flag, type Flag as FlagOf } from "./Flag.ts"
import { UsageError } from "./UsageError.ts"

/** Flags that every command understands. They may also stand before the command. */
export const globalFlags = {
  config: Flag.text({
    placeholder: "FILE",
    summary: "read the configuration from FILE",
    fallback: "$KIT_HOME/config.toml, KIT_HOME being ~/.kit",
  }),
  help: Flag.toggle({ short: "h", summary: "print this help" }),
} satisfies Flags

/** Flags of plain `kit`. */
export const rootFlags = {
  ...globalFlags,
  version: Flag.toggle({ short: "V", summary: "print the version" }),
} satisfies Flags

/** What `argv` asks for. `path` holds the words of the command, `kit` first. */
export type Request =
  | { readonly kind: "version" }
  | { readonly kind: "help"; readonly path: ReadonlyArray<string>; readonly entry: Entry }
  | {
      readonly kind: "run"
      readonly path: ReadonlyArray<string>
      readonly command: Command
      readonly input: Input<Parameters, Flags>
    }

/** The tokens of one command, sorted but not yet read. */
interface Sorted {
  readonly given: ReadonlyMap<string, ReadonlyArray<string>>
  readonly positional: ReadonlyArray<string>
}

const fail = (path: ReadonlyArray<string>, message: string) => Result.fail(new UsageError({ path, message }))

const flagNamed = (flags: Flags, token: string): string | undefined => {
  if (token.startsWith("--")) return Object.hasOwn(flags, token.slice(2)) ? token.slice(2) : undefined
  return Object.keys(flags).find((name) => flags[name]?.short === token.slice(1))
}

const isFlag = (token: string): boolean => token.startsWith("-") && token !== "-"

/** Splits `--name=value` and `-nvalue`; the value is `undefined` where the token holds none. */
const splitToken = (flags: Flags, token: string): readonly [name: string, value: string | undefined] => {
  const equals = token.indexOf("=")
  if (token.startsWith("--")) return equals < 0 ? [token, undefined] : [token.slice(0, equals), token.slice(equals + 1)]
  const short = token.slice(0, 2)
  return token.length > 2 && flagNamed(flags, short) !== undefined ? [short, token.slice(2)] : [token, undefined]
}

const sort = (path: ReadonlyArray<string>, flags: Flags, tokens: ReadonlyArray<string>): Result.Result<Sorted, UsageError> => {
  const given = new Map<string, Array<string>>()
  const positional: Array<string> = []
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!
    if (token === "--") {
      positional.push(...tokens.slice(index + 1))
      break
    }
    if (!isFlag(token)) {
      positional.push(token)
      continue
    }
    const [spelled, attached] = splitToken(flags, token)
    const name = flagNamed(flags, spelled)
    const flag: FlagOf<unknown> | undefined = name === undefined ? undefined : flags[name]
    if (name === undefined || flag === undefined) {
      const known = Object.keys(flags).map((each) => `--${each}`)
      return fail(path, `unknown flag ${spelled}${suggestion(spelled, known)}`)
    }
    const before = given.get(name) ?? []
    if (flag.arity !== "many" && before.length > 0) return fail(path, `--${name} stands twice`)
    if (flag.arity === "switch") {
      if (attached !== undefined) return fail(path, `--${name} takes no value`)
      given.set(name, [""])
      continue
    }
    const next = tokens[index + 1]
    const follows =
      next !== undefined && next !== "--" && !(isFlag(next) && flagNamed(flags, splitToken(flags, next)[0]) !== undefined)
    if (attached === undefined && !follows) return fail(path, `--${name} needs a value: --${name} ${flag.placeholder}`)
    given.set(name, [...before, attached ?? next!])
    if (attached === undefined) index++
  }
  return Result.succeed({ given, positional })
}

const assign = (path: ReadonlyArray<string>, command: Command, sorted: Sorted) => {
  const names = Object.keys(command.parameters)
  const endless = names.some((name) => command.parameters[name]?.many === true)
  const surplus = endless ? undefined : sorted.positional[names.length]
  if (surplus !== undefined) {
    const takes = names.length === 0 ? "no argument is taken" : `only ${names.join(" ")} is taken`
    return fail(path, `unexpected argument ${JSON.stringify(surplus)}; ${takes}`)
  }
  const parameters: Record<string, unknown> = {}
  for (const [index, name] of names.entries()) {
    const parameter = command.parameters[name]!
    const read = parameter.read(sorted.positional.slice(index, parameter.many ? undefined : index + 1))
    if (Result.isFailure(read)) return fail(path, `${name} ${read.failure}`)
    parameters[name] = read.success
  }
  const flags: Record<string, unknown> = {}
  for (const [name, flag] of Object.entries(command.flags)) {
    const read = flag.read(sorted.given.get(name) ?? [])
    if (Result.isFailure(read)) return fail(path, `--${name} ${read.failure}`)
    flags[name] = read.success
  }
  const config = globalFlags.config.read(sorted.given.get("config") ?? [])
  if (Result.isFailure(config)) return fail(path, `--config ${config.failure}`)
  for (const set of command.exclusive) {
    const standing = set.filter((name) => sorted.given.has(name) || parameters[name] !== undefined)
    const spelled = standing.map((name) => (name in command.flags ? `--${name}` : name))
    if (standing.length > 1) return fail(path, `${spelled.join(" and ")} exclude each other`)
  }
  return Result.succeed({ parameters, flags, config: config.success })
}

const child = (path: ReadonlyArray<string>, group: Group, word: string): Result.Result<Entry, UsageError> => {
  const found = group.members.find((member) => member.name === word)
  if (found !== undefined) return Result.succeed(found)
  const known = group.members.map((member) => member.name)
  return fail(path, `unknown command ${JSON.stringify(word)}${suggestion(word, known)}`)
}

/** Takes the global flags that stand before the command word. */
const leading = (tokens: ReadonlyArray<string>): number => {
  let index = 0
  while (index < tokens.length && isFlag(tokens[index]!)) {
    const [spelled, attached] = splitToken(globalFlags, tokens[index]!)
    const name = flagNamed(globalFlags, spelled)
    if (name === undefined) break
    index += globalFlags[name as keyof typeof globalFlags].arity === "switch" || attached !== undefined ? 1 : 2
  }
  return Math.min(index, tokens.length)
}

/**
 * Reads `argv` (without the program's own words) against the tree of commands. Help wins over every other finding.
 * A group without a further word, an unknown word and any wrong flag are usage errors; nothing has run then.
 */
export const parse = (root: Group, argv: ReadonlyArray<string>): Result.Result<Request, UsageError> => {
  const ahead = leading(argv)
  let entry: Entry = root
  let path: ReadonlyArray<string> = [root.name]
  let rest = argv.slice(ahead)
  const asksHelp = rest[0] === "help"
  if (asksHelp) rest = rest.slice(1)
  while (entry.kind === "group" && rest[0] !== undefined && !isFlag(rest[0])) {
    const found: Result.Result<Entry, UsageError> = child(path, entry, rest[0])
    if (Result.isFailure(found)) return Result.fail(found.failure)
    entry = found.success
    path = [...path, entry.name]
    rest = rest.slice(1)
  }
  const tokens = [...argv.slice(0, ahead), ...rest]
  const end = tokens.indexOf("--")
  const helps = tokens.slice(0, end < 0 ? undefined : end).some((token) => token === "--help" || token === "-h")
  if (asksHelp || helps) return Result.succeed({ kind: "help", path, entry })
  if (entry.kind === "group") {
    const sorted = sort(path, entry === root ? rootFlags : globalFlags, tokens)
    if (Result.isFailure(sorted)) return Result.fail(sorted.failure)
    if (sorted.success.given.has("version")) return Result.succeed({ kind: "version" })
    if (entry === root) return Result.succeed({ kind: "help", path, entry })
    return fail(path, `needs one of: ${entry.members.map((member) => member.name).join(", ")}`)
  }
  const command: Command = entry
  return Result.flatMap(sort(path, { ...command.flags, ...globalFlags }, tokens), (sorted) =>
    Result.map(assign(path, command, sorted), (input): Request => ({ kind: "run", path, command, input })),
  )
}

export * as Arguments from "./Arguments.ts"
