import { Limits } from "@acp-kit/orchestrator/Limits"
import { Host } from "@acp-kit/platform/Host"
import { TextFile } from "@acp-kit/platform/TextFile"
import { defaultLimits, type Input } from "@acp-kit/runlet/Host"
import { fromJson, NotJson } from "@acp-kit/runlet/JsonValue"
import { reserved } from "@acp-kit/runlet/Scanner"
import { parse } from "@acp-kit/store/Json"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { CommandFailed, failed } from "./CommandFailed.ts"
import { Flag } from "./Flag.ts"
import { LongWork } from "./LongWork.ts"
import { Terminal } from "./Terminal.ts"

/** A Runlet source and how diagnostics name it. */
export interface Program {
  readonly source: string
  readonly path: string
}

/** Where a program comes from; the same for every command that takes one. */
export const parameters = {
  FILE: Flag.optional("the program; standard input where it is -, or left out and something is sent there"),
}

const identifier = /^[_\p{XID_Start}]\p{XID_Continue}*$/u

const readInput = (text: string): Result.Result<Input, string> => {
  const equals = text.indexOf("=")
  const name = text.slice(0, Math.max(0, equals))
  if (equals < 0) return Result.fail(`takes NAME=JSON, not ${JSON.stringify(text)}`)
  if (!identifier.test(name)) return Result.fail(`${JSON.stringify(name)} is not a name that a program can use`)
  if (reserved.has(name)) return Result.fail(`${JSON.stringify(name)} is a word of the language; choose another name`)
  const value = parse(text.slice(equals + 1))
  if (value === undefined) return Result.fail(`${name} is not JSON; a string needs its quotes: --input '${name}="…"'`)
  const held = fromJson(value)
  return held instanceof NotJson
    ? Result.fail(`${name} holds what no program can: ${held.message}`)
    : Result.succeed({ name, schema: true, value })
}

/** The flags of a program's source and inputs. */
export const flags = {
  eval: Flag.text({ short: "e", placeholder: "PROGRAM", summary: "the program itself" }),
  input: Flag.each({ placeholder: "NAME=JSON", summary: "a value that the program knows as NAME" }, readInput),
}

const unreadable = (path: string, reason: string) => failed(2, "UNREADABLE", `could not read ${path}: ${reason}`)

const { sourceBytes } = defaultLimits

/** A prompt that is larger could not be sent: 32 MiB. */
const promptBytes = Limits.defaults.lineBytes

const readFile = Effect.fnUntraced(function* (name: string) {
  const paths = yield* Path.Path
  const host = yield* Host.Service
  const text = yield* Effect.mapError(TextFile.readAtMost(paths.resolve(host.cwd, name), sourceBytes), ({ why }) =>
    unreadable(name, why),
  )
  return { source: TextFile.unmarked(text), path: name }
})

const standardInput = Effect.fnUntraced(function* (limit: number) {
  const terminal = yield* Terminal.Service
  return yield* Effect.mapError(terminal.input(limit), ({ reason }) => unreadable("standard input", reason))
})

/** Reads the program that a command was given: a FILE, that of `-e`, or what comes on standard input where nobody types it. */
export const read = Effect.fnUntraced(function* (command: string, file: string | undefined, text: string | undefined) {
  if (text !== undefined) return { source: text, path: "-e" }
  if (file !== undefined && file !== "-") return yield* readFile(file)
  const { inIsTerminal } = yield* Terminal.Service
  const waiting = LongWork.during(() => `kit ${command}: waiting for a program on standard input`)
  const input = inIsTerminal
    ? file === undefined
      ? Effect.succeed("")
      : standardInput(sourceBytes)
    : waiting(standardInput(sourceBytes))
  const source = TextFile.unmarked(yield* input)
  if (file !== undefined || source !== "") return { source, path: "standard input" }
  return yield* new CommandFailed({
    exit: 2,
    text: `kit ${command}: no program; name a FILE, give one with -e, or send one to standard input`,
    error: { code: "USAGE", message: "no program" },
  })
})

/** A prompt that a command was given, `-` for standard input; one without a word is refused. */
export const promptOf = Effect.fnUntraced(function* (given: string) {
  const prompt = given === "-" ? yield* standardInput(promptBytes) : given
  return prompt.trim() === "" ? yield* failed(2, "USAGE", "the prompt is empty") : prompt
})

/** Fails where two inputs have one name. */
export const inputs = (given: ReadonlyArray<Input>): Effect.Effect<ReadonlyArray<Input>, CommandFailed> => {
  const names = given.map((input) => input.name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined ? Effect.succeed(given) : Effect.fail(failed(2, "USAGE", `--input ${twice} stands twice`))
}

export * as Program from "./Program.ts"
