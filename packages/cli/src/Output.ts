import { CompactJson } from "@acp-kit/agent/CompactJson"
import { Host } from "@acp-kit/platform/Host"
import type { Json } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import type { CommandFailed } from "./CommandFailed.ts"
import { indent } from "./Indent.ts"
import { printable } from "./Printable.ts"
import { Terminal } from "./Terminal.ts"

/** Prints a value on stdout: canonical JSON on one line; indented where a person looks and did not ask for `--json`. */
export const value = Effect.fnUntraced(function* (json: Json, asJson: boolean) {
  const terminal = yield* Terminal.Service
  const text = CompactJson.encode(json)
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

/** Lines that may quote anyone: a file's name, a program, a child. None of them can move the cursor, change a colour or hide something. */
const harmless = (text: string): string => text.split(/\r?\n/).map(printable).join("\n")

/** Reports a failure: the text on stderr, and with `--json` one object on stdout. */
export const failure = Effect.fnUntraced(function* (failed: Pick<CommandFailed, "text" | "error">, asJson: boolean) {
  const terminal = yield* Terminal.Service
  yield* terminal.err(`${harmless(failed.text)}\n`)
  if (asJson) yield* terminal.out(`${CompactJson.encode({ error: failed.error })}\n`)
})

export * as Output from "./Output.ts"
