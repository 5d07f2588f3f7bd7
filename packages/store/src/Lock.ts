import { lstatSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import type { DatabaseSync } from "node:sqlite"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Disk } from "./Disk.ts"
import { Io, of, ofDisk, type StoreError } from "./StoreError.ts"

/**
 * A lock that the kernel frees when its owner dies, however it dies: an exclusive transaction of SQLite on an empty file.
 *
 * Two things would drop it while we live, so nothing but this module ever opens a lock file: a handle that is collected (it stays in a map of the process),
 * and any open and close of the same file by the owner (POSIX locks belong to process and file, not to a descriptor).
 */
export interface Interface {
  /** Takes the lock until the scope closes; `false` at once where another process or another part of this one has it. The file must exist; it may be renamed meanwhile. */
  readonly acquire: (path: string) => Effect.Effect<boolean, StoreError, Scope.Scope>
  /** Whether anyone has the lock now. */
  readonly isHeld: (path: string) => Effect.Effect<boolean, StoreError>
  /** Who we are, for people; `null` where the system does not say. */
  readonly self: { readonly pid: number | null; readonly host: string | null }
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/store/Lock") {}

const registry = Symbol.for("@acp-kit/store/Lock")

/** The held locks of this process, shared by every copy of this module that is loaded. */
const held = (): Map<string, DatabaseSync> => {
  const holder = globalThis as { [registry]?: Map<string, DatabaseSync> }
  holder[registry] ??= new Map()
  return holder[registry]
}

/** The file itself, whatever it is called now, found without opening it. */
const identity = (path: string): string => {
  const { dev, ino } = lstatSync(path)
  return `${dev}:${ino}`
}

const isBusy = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  /database is locked|SQLITE_BUSY/i.test(String((error as { message?: unknown }).message))

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const attempt = <A>(path: string, run: (sqlite: typeof import("node:sqlite")) => A): Effect.Effect<A, StoreError> =>
  Effect.tryPromise({
    try: async () => run(await import("node:sqlite")),
    catch: (error) => of(new Io({ path, call: "lock", reason: reasonOf(error) })),
  })

/** A connection that keeps no journal file beside the lock file and never waits. */
const connect = (sqlite: typeof import("node:sqlite"), path: string): DatabaseSync => {
  const database = new sqlite.DatabaseSync(path)
  try {
    database.exec("PRAGMA busy_timeout=0; PRAGMA journal_mode=MEMORY")
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Runs the statement; `undefined` where someone else has the lock. The connection is closed unless it is returned. */
const take = (sqlite: typeof import("node:sqlite"), path: string): DatabaseSync | undefined => {
  let database: DatabaseSync | undefined
  try {
    database = connect(sqlite, path)
    database.exec("BEGIN EXCLUSIVE")
    return database
  } catch (error) {
    database?.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

const acquire = (path: string): Effect.Effect<boolean, StoreError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      attempt(path, (sqlite) => {
        const key = identity(path)
        if (held().has(key)) return undefined
        const database = take(sqlite, path)
        if (database !== undefined) held().set(key, database)
        return database === undefined ? undefined : key
      }),
      (key) =>
        Effect.sync(() => {
          if (key === undefined) return
          const database = held().get(key)
          held().delete(key)
          database?.close()
        }),
    ),
    (key) => key !== undefined,
  )

const isHeld = (path: string): Effect.Effect<boolean, StoreError> =>
  attempt(path, (sqlite) => {
    if (held().has(identity(path))) return true
    const database = take(sqlite, path)
    database?.close()
    return database === undefined
  })

const pid = (): number | null => {
  try {
    return Number(readlinkSync("/proc/self")) || null
  } catch {
    return null
  }
}

/** Locks between processes, through `node:sqlite` (Bun, Deno, Node 22.13 or newer). */
export const layer: Layer.Layer<Service> = Layer.sync(Service, () => ({
  acquire,
  isHeld,
  self: { pid: pid(), host: hostname() },
}))

/** Locks within one process, for a disk in memory. */
export const layerMemory: Layer.Layer<Service, never, Disk.Service> = Layer.effect(
  Service,
  Effect.map(Disk.Service, (disk) => {
    const taken = new Set<string>()
    const identify = (path: string): Effect.Effect<string, StoreError> =>
      Effect.flatMap(Effect.mapError(disk.stat(path), ofDisk), (stat) =>
        stat === undefined ? Effect.fail(of(new Io({ path, call: "lock", reason: "ENOENT" }))) : Effect.succeed(stat.identity),
      )
    return {
      acquire: (path) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.map(identify(path), (key) => {
              if (taken.has(key)) return undefined
              taken.add(key)
              return key
            }),
            (key) => Effect.sync(() => void (key !== undefined && taken.delete(key))),
          ),
          (key) => key !== undefined,
        ),
      isHeld: (path) => Effect.map(identify(path), (key) => taken.has(key)),
      self: { pid: pid(), host: hostname() },
    }
  }),
)

export * as Lock from "./Lock.ts"
