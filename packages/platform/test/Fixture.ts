import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import type { Child, Command } from "../src/Processes.ts"
import { system } from "../src/ProcessTable.ts"

const file = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))

/** How this runtime starts a script. */
const launch = (script: string, ...args: ReadonlyArray<string>): readonly [string, ...ReadonlyArray<string>] => [
  process.execPath,
  ...("Deno" in globalThis ? ["run", "-A", "--no-lock", "--quiet"] : []),
  file(script),
  ...args,
]

const environment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** A script of `fixtures` as a command of this runtime. */
export const script = (name: string, ...args: ReadonlyArray<string>): Command => {
  const [command, ...rest] = launch(name, ...args)
  return { command, args: rest, cwd: tmpdir(), env: environment() }
}

/** `fixtures/child.mjs` in one of its modes. */
export const child = (mode: string, ...args: ReadonlyArray<string>): Command => script("child.mjs", mode, ...args)

/** Everything until the end of a stream. */
export const drain = Effect.fnUntraced(function* (read: Child["read"]) {
  const chunks: Array<Uint8Array> = []
  for (let chunk = yield* read; chunk !== undefined; chunk = yield* read) chunks.push(chunk)
  return Buffer.concat(chunks)
})

/** The first line of stdout as JSON. */
export const firstLine = Effect.fnUntraced(function* (read: Child["read"]) {
  let text = ""
  while (!text.includes("\n")) {
    const chunk = yield* read
    if (chunk === undefined) return yield* Effect.die(new Error(`no line: ${text}`))
    text += Buffer.from(chunk).toString()
  }
  return JSON.parse(text.slice(0, text.indexOf("\n"))) as unknown
})

/** Which of the pids run. */
export const running = (pids: ReadonlyArray<number>) =>
  Effect.map(system.snapshot, (table) => pids.filter((pid) => table.some((entry) => entry.pid === pid)))

/** A directory that is gone with the scope. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kit-platform-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

/** The next `length` bytes of ASCII, or what there is until the end. */
export const firstText = Effect.fnUntraced(function* (read: Child["read"], length: number) {
  let text = ""
  while (text.length < length) {
    const chunk = yield* read
    if (chunk === undefined) break
    text += Buffer.from(chunk).toString()
  }
  return text
})
