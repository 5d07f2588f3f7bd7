import { CompactJson } from "@acp-kit/agent/CompactJson"
import { Host } from "@acp-kit/platform/Host"
import type { Json } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import type { CommandFailed } from "./CommandFailed.ts"
import { indent } from "./Indent.ts"
import { printableJson, printableLines } from "./Printable.ts"
import { Terminal } from "./Terminal.ts"

/** Prints a value on stdout: canonical JSON on one line; indented where a person looks and did not ask for `--json`. */
export const value = Effect.fnUntraced(function* (json: Json, asJson: boolean) {
  const terminal = yield* Terminal.Service
  const compact = CompactJson.encode(json)
  const text = terminal.outIsTerminal ? printableJson(compact) : compact
  yield* terminal.out(`${terminal.outIsTerminal && !asJson ? indent(text) : text}\n`)
})

/** Prints the version. */
export const version = Effect.gen(function* () {
  const host = yield* Host.Service
  yield* lines([`kit ${host.version}`])
})

/** Prints lines for people on stdout. */
export const lines = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  const terminal = yield* Terminal.Service
  if (texts.length > 0) yield* terminal.out(`${texts.join("\n")}\n`)
})

/** Prints what a child or a model said: as it is into a pipe or a file, without what moves the cursor on a terminal. */
export const said = Effect.fnUntraced(function* (text: string) {
  const terminal = yield* Terminal.Service
  yield* terminal.out(terminal.outIsTerminal ? printableLines(text) : text)
})

/** Reports a failure, whoever it quotes: the text on stderr, and with `--json` one object on stdout. */
export const failure = Effect.fnUntraced(function* (failed: Pick<CommandFailed, "text" | "error">, asJson: boolean) {
  const terminal = yield* Terminal.Service
  yield* terminal.err(`${printableLines(failed.text)}\n`)
  if (asJson) yield* terminal.out(`${CompactJson.encode({ error: failed.error })}\n`)
})

export * as Output from "./Output.ts"
