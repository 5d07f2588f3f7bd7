import { Host } from "@acp-kit/platform/Host"
import { TextFile } from "@acp-kit/platform/TextFile"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { invalid, isObject } from "./Arguments.ts"
import { type FrontMatter, split } from "./FrontMatter.ts"
import { nearest, suggestion } from "./Nearest.ts"
import { SubagentError } from "./SubagentError.ts"

/** An agent definition, `agents/<name>.md` of the project, else of Kit's home: defaults for `subagent`, which its arguments override, and a system prompt. */
export interface Definition {
  readonly name: string
  /** Absolute path of the file, and the SHA-256 of its bytes in hex. */
  readonly path: string
  readonly sha256: string
  readonly description?: string
  readonly harness?: string
  readonly model?: string
  readonly cwd?: string
  readonly outputSchema?: Json
  /** Variables of its process, beyond the parent's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Names whose values are never stored (K13). */
  readonly secrets: ReadonlyArray<string>
  /** Where each key of its head stands, 1-based. */
  readonly lines: ReadonlyMap<string, number>
  /** The system prompt: what follows the head, trimmed (K03). */
  readonly body: string
}

const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const hexOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("")

const keys = ["description", "harness", "model", "cwd", "output_schema", "env", "secrets"]

/** What is wrong with a head, and the key that it is about. */
interface Wrong {
  readonly key: string
  readonly why: string
}

const textOf = (head: JsonObject, key: string): Result.Result<{ readonly [key: string]: string }, Wrong> => {
  const value = head[key]
  if (value === undefined || value === null) return Result.succeed({})
  return typeof value === "string" && value.trim() !== ""
    ? Result.succeed({ [key]: value })
    : Result.fail({ key, why: `${key} must be text` })
}

const readHead = ({
  head,
  lines,
}: FrontMatter): Result.Result<Omit<Definition, "name" | "path" | "sha256" | "body" | "lines">, Wrong> =>
  Result.gen(function* () {
    const stranger = [...lines.keys()].find((key) => !keys.includes(key))
    if (stranger !== undefined) {
      const hint = nearest(stranger, keys) === undefined ? `; it takes ${keys.join(", ")}` : suggestion(stranger, keys)
      return yield* Result.fail({ key: stranger, why: `unknown key ${JSON.stringify(stranger)}${hint}` })
    }
    const { env = {}, secrets = [], output_schema } = head
    const texts = { ...(yield* textOf(head, "description")), ...(yield* textOf(head, "harness")) }
    const places = { ...(yield* textOf(head, "model")), ...(yield* textOf(head, "cwd")) }
    if (!isObject(env)) return yield* Result.fail({ key: "env", why: "env must be a map" })
    if (!Array.isArray(secrets) || !secrets.every((secret) => typeof secret === "string"))
      return yield* Result.fail({ key: "secrets", why: "secrets must be a list of names" })
    const variables = Object.entries(env).map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ])
    return {
      ...texts,
      ...places,
      env: Object.fromEntries(variables),
      secrets: secrets as ReadonlyArray<string>,
      ...(output_schema === undefined ? {} : { outputSchema: output_schema }),
    }
  })

/** `agent definition /home/agents/reviewer.md, line 3` */
const placeOf = (path: string, line: number | undefined): string =>
  `agent definition ${path}${line === undefined ? "" : `, line ${line}`}`

/** Where definitions are looked for, in this order. */
const folders = Effect.fnUntraced(function* (root: string) {
  const host = yield* Host.Service
  const path = yield* Path.Path
  return [path.join(root, "agents"), path.join(host.kitHome, "agents")] as const
})

/** The names of all definitions that a project at `root` has, sorted. */
export const names = Effect.fnUntraced(function* (root: string) {
  const files = yield* FileSystem.FileSystem
  const found = yield* Effect.forEach(yield* folders(root), (folder) =>
    Effect.orElseSucceed(files.readDirectory(folder), (): Array<string> => []),
  )
  const all = found
    .flat()
    .filter((entry) => entry.endsWith(".md"))
    .map((entry) => entry.slice(0, -".md".length))
    .filter((name) => pattern.test(name))
  return [...new Set(all)].sort()
})

/** The first file of that name, and its text. */
const find = Effect.fnUntraced(function* (name: string, root: string) {
  const path = yield* Path.Path
  for (const folder of pattern.test(name) ? yield* folders(root) : []) {
    const file = path.join(folder, `${name}.md`)
    const text = yield* Effect.catch(TextFile.read(file), ({ missing, why }) =>
      missing ? Effect.void : Effect.fail(invalid(`could not read agent definition ${file}: ${why}`)),
    )
    if (text !== undefined) return { file, text }
  }
  return yield* invalid(`unknown agent definition ${JSON.stringify(name)}${suggestion(name, yield* names(root))}`)
})

/** Reads a definition by name, for a project at `root`; nothing is started. */
export const load = Effect.fn("Definition.load")(function* (
  name: string,
  root: string,
): Effect.fn.Return<Definition, SubagentError, FileSystem.FileSystem | Path.Path | Host.Service> {
  const { file, text } = yield* find(name, root)
  const matter = split(TextFile.unmarked(text))
  if (Result.isFailure(matter)) return yield* invalid(`${placeOf(file, matter.failure.line)}: ${matter.failure.why}`)
  const { lines, body } = matter.success
  const read = readHead(matter.success)
  if (Result.isFailure(read)) return yield* invalid(`${placeOf(file, lines.get(read.failure.key))}: ${read.failure.why}`)
  const sha256 = yield* Effect.promise(() => hexOf(new TextEncoder().encode(text)))
  return { ...read.success, name, path: file, sha256, lines, body }
})

/** The failure of a value that the definition gave for `key`, told as such: it names the file and the line. */
export const blame = (definition: Definition, key: string, error: SubagentError): SubagentError =>
  new SubagentError({
    code: error.code,
    message: `${placeOf(definition.path, definition.lines.get(key))}: ${error.message}`,
    retryable: false,
    ...(error.details === undefined ? {} : { details: error.details }),
  })

export * as Definitions from "./Definition.ts"
