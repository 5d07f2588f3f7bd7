import { SystemFailure } from "@acp-kit/platform/SystemFailure"
import { type Json, type JsonObject, type Tool, ToolFailure } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Semaphore from "effect/Semaphore"
import { type Hunk, Hunks } from "./Hunks.ts"
import { Ids } from "./Ids.ts"

export interface Options {
  /** Absolute path; relative paths count from here. */
  readonly root: string
  readonly limits?: Partial<Limits>
}

export interface Limits {
  /** Bytes of a file that is edited. */
  readonly fileBytes: number
}

export const defaultLimits: Limits = { fileBytes: 64 * 1024 * 1024 }

const text = { type: "string" } as const
const hunk = {
  type: "object",
  properties: { context_before: text, old: text, new: text, context_after: text },
  required: ["old", "new"],
  additionalProperties: false,
} as const

const operation = (op: string, rest: JsonObject): JsonObject => ({
  type: "object",
  properties: { op: { type: "string", enum: [op] }, path: text, ...rest },
  required: ["op", "path", ...Object.keys(rest)],
  additionalProperties: false,
})

const input: JsonObject = {
  oneOf: [
    operation("add", { content: text }),
    operation("edit", { hunks: { type: "array", items: hunk, minItems: 1 } }),
    operation("delete", {}),
  ],
}

const output: JsonObject = {
  type: "object",
  properties: { path: text, status: { type: "string", enum: ["added", "edited", "deleted"] } },
  required: ["path", "status"],
  additionalProperties: false,
}

type Operation = { readonly path: string } & (
  | { readonly op: "add"; readonly content: string }
  | { readonly op: "edit"; readonly hunks: ReadonlyArray<Hunk> }
  | { readonly op: "delete" }
)

/**
 * `edit({op: "add" | "edit" | "delete", path, …})`: creates, changes or removes one file and returns `{path, status}`. A change is whole
 * or nothing: it is written beside the file and renamed over it, with its mode and line ends; a file that changed meanwhile is refused.
 */
export const make = Effect.fnUntraced(function* (
  options: Options,
): Effect.fn.Return<Tool, never, FileSystem.FileSystem | Path.Path> {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const limits = { ...defaultLimits, ...options.limits }
  const oneAtATime = Semaphore.makeUnsafe(1)

  const add = Effect.fnUntraced(function* (shown: string, path: string, content: string) {
    if (yield* present(path)) return yield* refuse("EXISTS", `${shown} already exists`)
    yield* files.makeDirectory(paths.dirname(path), { recursive: true })
    yield* throughTemporary(path, new TextEncoder().encode(content), 0o666, (temporary) =>
      files.link(temporary, path).pipe(
        Effect.catchIf(isReason("AlreadyExists"), () => refuse("EXISTS", `${shown} already exists`)),
        Effect.andThen(files.remove(temporary)),
      ),
    )
    return "added"
  })

  const edit = Effect.fnUntraced(function* (shown: string, link: string, hunks: ReadonlyArray<Hunk>) {
    if (!(yield* present(link))) return yield* refuse("NOT_FOUND", `${shown} does not exist`)
    const path = yield* files.realPath(link)
    const { before, mode } = yield* readWhole(shown, path)
    const content = yield* decode(shown, before)
    const changed = yield* Effect.mapError(
      Hunks.apply(content, hunks),
      (refused) => new ToolFailure({ code: codes[refused.reason], message: `${shown}: ${refused.message}` }),
    )
    yield* throughTemporary(path, new TextEncoder().encode(changed), mode, (temporary) =>
      Effect.gen(function* () {
        yield* files.chmod(temporary, mode)
        const { before: now } = yield* readWhole(shown, path)
        if (!equal(now, before)) return yield* refuse("CHANGED", `${shown} was changed by someone else; read it again`)
        yield* files.rename(temporary, path)
      }),
    )
    return "edited"
  })

  const remove = Effect.fnUntraced(function* (shown: string, path: string) {
    if (!(yield* present(path))) return yield* refuse("NOT_FOUND", `${shown} does not exist`)
    if ((yield* files.lstat(path)).type === "Directory") return yield* refuse("NOT_A_FILE", `${shown} is a directory`)
    yield* files.remove(path)
    return "deleted"
  })

  const present = (path: string) =>
    Effect.as(files.lstat(path), true).pipe(Effect.catchIf(isReason("NotFound"), () => Effect.succeed(false)))

  const readWhole = Effect.fnUntraced(function* (shown: string, path: string) {
    const info = yield* files.stat(path)
    if (info.type !== "File") return yield* refuse("NOT_A_FILE", `${shown} is not a regular file`)
    if (Number(info.size) > limits.fileBytes)
      return yield* refuse("TOO_LARGE", `${shown} is larger than ${limits.fileBytes} bytes`)
    return { before: yield* files.readFile(path), mode: info.mode & 0o7777 }
  })

  /** Writes the bytes beside the path, on disk; whatever `publish` then does or fails to do, no temporary file stays. */
  const throughTemporary = <E>(
    path: string,
    bytes: Uint8Array,
    mode: number,
    publish: (temporary: string) => Effect.Effect<void, E>,
  ) =>
    Effect.gen(function* () {
      const temporary = paths.join(paths.dirname(path), `.${yield* Ids.next("kit-edit")}.tmp`)
      const write = Effect.gen(function* () {
        const file = yield* files.open(temporary, { flag: "wx", mode })
        yield* file.writeAll(bytes)
        yield* file.sync
      }).pipe(Effect.scoped)
      yield* write.pipe(
        Effect.andThen(Effect.uninterruptible(publish(temporary))),
        Effect.onError(() => Effect.ignore(files.remove(temporary, { force: true }))),
      )
    })

  const apply = (operation: Operation, path: string) => {
    switch (operation.op) {
      case "add":
        return add(operation.path, path, operation.content)
      case "edit":
        return edit(operation.path, path, operation.hunks)
      case "delete":
        return remove(operation.path, path)
    }
  }

  const handler = Effect.fnUntraced(function* (args: ReadonlyArray<Json>): Effect.fn.Return<Json, ToolFailure> {
    const operation = args[0] as unknown as Operation
    if (operation.path.trim() === "") return yield* refuse("INVALID_ARGUMENT", "path must be non-empty")
    if (operation.path.includes("\0")) return yield* refuse("INVALID_ARGUMENT", "path must not contain NUL")
    const status = yield* apply(operation, paths.resolve(options.root, operation.path)).pipe(
      Effect.catchTag("PlatformError", (error) => refuse("IO", describe(operation, error))),
      Semaphore.withPermit(oneAtATime),
    )
    return { path: operation.path, status }
  })

  return {
    name: "edit",
    summary: "Add, change or delete one file. Each hunk names text that stands in the file exactly once.",
    parameters: [{ name: "input", schema: input }],
    output,
    policy: "at_most_once",
    schemaVersion: "1",
    handler,
  }
})

const codes = { no_anchor: "INVALID_ARGUMENT", no_match: "NO_MATCH", ambiguous: "AMBIGUOUS", overlap: "INVALID_ARGUMENT" }

const refuse = (code: string, message: string) => Effect.fail(new ToolFailure({ code, message }))

const isReason = (tag: PlatformError["reason"]["_tag"]) => (error: unknown) =>
  (error as { readonly _tag?: string })._tag === "PlatformError" && (error as PlatformError).reason._tag === tag

const describe = ({ op, path }: Operation, error: PlatformError) => `could not ${op} ${path}: ${SystemFailure.why(error)}`

const decode = (shown: string, bytes: Uint8Array) =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
    catch: () => new ToolFailure({ code: "NOT_TEXT", message: `${shown} is not UTF-8 text` }),
  })

const equal = (left: Uint8Array, right: Uint8Array) =>
  left.length === right.length && left.every((byte, at) => byte === right[at])

export * as Edit from "./Edit.ts"
