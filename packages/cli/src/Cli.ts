import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Arguments } from "./Arguments.ts"
import type { Group } from "./Command.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { Footer } from "./Footer.ts"
import { Help } from "./Help.ts"
import { Output } from "./Output.ts"
import type { AppServices, ExitCode } from "./Services.ts"
import { Terminal } from "./Terminal.ts"
import type { UsageError } from "./UsageError.ts"

const entryAt = (root: Group, path: ReadonlyArray<string>) => {
  let entry: Group["members"][number] = root
  for (const word of path.slice(1)) {
    const next: Group["members"][number] | undefined =
      entry.kind === "group" ? entry.members.find((member) => member.name === word) : undefined
    if (next === undefined) return entry
    entry = next
  }
  return entry
}

const usageFailed = (root: Group, error: UsageError): CommandFailed => {
  const name = error.path.join(" ")
  return new CommandFailed({
    exit: 2,
    text: [
      `${name}: ${error.message}`,
      ...Help.usageLines(error.path, entryAt(root, error.path)),
      `${name} --help tells more.`,
    ].join("\n"),
    error: { code: "USAGE", message: error.message },
  })
}

const crashed = (defect: unknown): CommandFailed =>
  new CommandFailed({
    exit: 1,
    text: `kit: internal error, please report it\n${Cause.pretty(Cause.die(defect))}`,
    error: { code: "INTERNAL", message: defect instanceof Error ? defect.message : String(defect) },
  })

const cancelled = { text: "kit: cancelled", error: { code: "CANCELLED", message: "cancelled" } }

const execute = (root: Group, argv: ReadonlyArray<string>): Effect.Effect<ExitCode, never, AppServices | Footer.Service> => {
  const request = Arguments.parse(root, argv)
  if (Result.isFailure(request)) {
    const failed = usageFailed(root, request.failure)
    return Effect.as(Output.failure(failed, argv.includes("--json")), failed.exit)
  }
  const asked = request.success
  if (asked.kind === "version") return Effect.as(Output.version, 0 as const)
  if (asked.kind === "help") {
    return Effect.as(
      Effect.flatMap(Terminal.Service, (terminal) => terminal.out(Help.help(asked.path, asked.entry))),
      0 as const,
    )
  }
  const asJson = asked.input.flags.json === true
  return asked.command.run(asked.input).pipe(
    Effect.catchDefect((defect) => Effect.fail(crashed(defect))),
    Effect.catch((failed) => Effect.as(Output.failure(failed, asJson), failed.exit)),
    Effect.onInterrupt(() => Output.failure(cancelled, asJson)),
  )
}

/** A success whose output was lost is none. */
const unlessLost = Effect.fnUntraced(function* (exit: ExitCode) {
  const terminal = yield* Terminal.Service
  const lost = yield* terminal.lost
  if (lost === undefined) return exit
  yield* terminal.err(`kit: ${lost.message}\n`)
  return exit === 0 ? (1 as const) : exit
})

/**
 * Runs what `argv` (without the program's own words) asks for, and reports every failure as texts and exit code, output that could not be
 * written among them. An interruption is reported too, after everything that ran has ended; its exit code is the caller's.
 */
export const run = (root: Group, argv: ReadonlyArray<string>): Effect.Effect<ExitCode, never, AppServices> => {
  let footer: string | undefined
  const set = (line: string) =>
    Effect.sync(() => {
      footer = line
    })
  const printFooter = Effect.flatMap(Terminal.Service, (terminal) =>
    footer === undefined ? Effect.void : terminal.err(`${footer}\n`),
  )
  return execute(root, argv).pipe(
    Effect.flatMap(unlessLost),
    Effect.ensuring(printFooter),
    Effect.provideService(Footer.Service, { set }),
  )
}

export * as Cli from "./Cli.ts"
