import * as fs from "node:fs"
import { platform } from "node:os"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { type Call, DiskError, type File, type Interface, Service, type Stat } from "./Disk.ts"

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants
const O_NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0
const O_DIRECTORY = fs.constants.O_DIRECTORY ?? 0
const O_NONBLOCK = fs.constants.O_NONBLOCK ?? 0

/** More syncs at once add latency and no throughput. */
const syncsInFlight = 4

const os = platform()

const codeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return "EUNKNOWN"
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === "string" ? code : typeof name === "string" ? name : "EUNKNOWN"
}

const failure = (call: Call, path: string, error: unknown): DiskError => new DiskError({ call, path, code: codeOf(error) })

const attempt = <A>(call: Call, path: string, run: () => A): Effect.Effect<A, DiskError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (error) {
      return Effect.fail(failure(call, path, error))
    }
  })

const orAbsent = <A>(call: Call, path: string, run: () => A): Effect.Effect<A | undefined, DiskError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (error) {
      return codeOf(error) === "ENOENT" ? Effect.succeed(undefined) : Effect.fail(failure(call, path, error))
    }
  })

const fd = (file: File): number => file.handle as number

const writeAll = (descriptor: number, bytes: Uint8Array): void => {
  let done = 0
  while (done < bytes.length) {
    const written = fs.writeSync(descriptor, bytes, done, bytes.length - done)
    if (written === 0) throw Object.assign(new Error("short write"), { code: "ENOSPC" })
    done += written
  }
}

const readAll = (descriptor: number, offset: number, length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const count = fs.readSync(descriptor, bytes, done, length - done, offset + done)
    if (count === 0) return bytes.subarray(0, done)
    done += count
  }
  return bytes
}

/** A pipe or a device under one of our names must neither block us nor be read. */
const openRegular = (path: string, flags: number, mode?: number): number => {
  const descriptor = fs.openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, mode)
  if (fs.fstatSync(descriptor).isFile()) return descriptor
  fs.closeSync(descriptor)
  throw Object.assign(new Error("not a regular file"), { code: "EISDIR" })
}

/** One read is enough for most files; what is no regular file cannot be read without blocking, and fails. */
const scratch = new Uint8Array(64 * 1024)

const readWhole = (path: string): Uint8Array => {
  const descriptor = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const count = fs.readSync(descriptor, scratch, 0, scratch.length, 0)
    if (count < scratch.length) return scratch.slice(0, count)
    return readAll(descriptor, 0, fs.fstatSync(descriptor).size)
  } finally {
    fs.closeSync(descriptor)
  }
}

const open = (call: Call, path: string, flags: number, mode?: number): Effect.Effect<File, DiskError> =>
  attempt(call, path, () => {
    const descriptor = openRegular(path, flags, mode)
    if (mode !== undefined) fs.fchmodSync(descriptor, mode)
    return { path, handle: descriptor }
  })

const kindOf = (stat: fs.Stats): Stat["kind"] =>
  stat.isFile() ? "file" : stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "symlink" : "other"

const make: Effect.Effect<Interface> = Effect.sync(() => {
  const slots = Semaphore.makeUnsafe(syncsInFlight)
  const synced = (call: Call, path: string, start: (done: (error: unknown) => void) => void) =>
    slots.withPermit(
      Effect.callback<void, DiskError>((resume) => {
        start((error) => resume(error === null || error === undefined ? Effect.void : Effect.fail(failure(call, path, error))))
      }),
    )
  const sync = os === "linux" ? fs.fdatasync : fs.fsync
  return {
    openExclusive: (path) => open("openExclusive", path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0o600),
    openAppend: (path) => open("openAppend", path, O_RDWR | O_APPEND),
    openRead: (path) => open("openRead", path, O_RDONLY),
    read: (file, offset, length) => attempt("read", file.path, () => readAll(fd(file), offset, length)),
    write: (file, bytes) => attempt("write", file.path, () => writeAll(fd(file), bytes)),
    size: (file) => attempt("size", file.path, () => fs.fstatSync(fd(file)).size),
    truncate: (file, size) => attempt("truncate", file.path, () => fs.ftruncateSync(fd(file), size)),
    sync: (file) => synced("sync", file.path, (done) => sync(fd(file), done)),
    close: (file) =>
      Effect.sync(() => {
        try {
          fs.closeSync(fd(file))
        } catch {
          return
        }
      }),
    syncDirectory: (path) =>
      os === "win32"
        ? Effect.void
        : Effect.uninterruptible(
            Effect.flatMap(
              attempt("syncDirectory", path, () => fs.openSync(path, O_RDONLY | O_DIRECTORY)),
              (descriptor) =>
                Effect.ensuring(
                  synced("syncDirectory", path, (done) => fs.fsync(descriptor, done)),
                  Effect.sync(() => fs.closeSync(descriptor)),
                ),
            ),
          ),
    stat: (path) =>
      orAbsent("stat", path, () => {
        const stat = fs.lstatSync(path)
        return {
          kind: kindOf(stat),
          size: stat.size,
          mode: stat.mode & 0o777,
          uid: stat.uid,
          identity: `${stat.dev}:${stat.ino}`,
          modified: stat.mtimeMs,
        }
      }),
    list: (path) => orAbsent("list", path, () => fs.readdirSync(path).sort()),
    directories: (path) =>
      orAbsent("list", path, () =>
        fs.readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])),
      ),
    readFile: (path) => orAbsent("readFile", path, () => readWhole(path)),
    readFiles: (paths) =>
      Effect.sync(() =>
        paths.map((path) => {
          try {
            return readWhole(path)
          } catch (error) {
            return codeOf(error) === "ENOENT" ? undefined : failure("readFile", path, error)
          }
        }),
      ),
    makeDirectory: (path) =>
      attempt("makeDirectory", path, () => {
        fs.mkdirSync(path, { mode: 0o700 })
        fs.chmodSync(path, 0o700)
      }),
    rename: (from, to) => attempt("rename", from, () => fs.renameSync(from, to)),
    unlink: (path) => Effect.asVoid(orAbsent("unlink", path, () => fs.unlinkSync(path))),
    removeTree: (path) => attempt("removeTree", path, () => fs.rmSync(path, { recursive: true, force: true })),
    chmod: (path, mode) => attempt("chmod", path, () => fs.chmodSync(path, mode)),
  }
})

/** The file system of this machine through `node:fs`, the same on Bun, Deno and Node. Syncs run beside the event loop, four at a time. */
export const layer: Layer.Layer<Service> = Layer.effect(Service, make)

export * as DiskNode from "./DiskNode.ts"
