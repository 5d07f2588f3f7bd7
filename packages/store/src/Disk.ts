import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The calls that reach a disk, as tests name and count them. */
export type Call =
  | "openExclusive"
  | "openAppend"
  | "openRead"
  | "read"
  | "write"
  | "size"
  | "truncate"
  | "sync"
  | "close"
  | "syncDirectory"
  | "stat"
  | "list"
  | "readFile"
  | "makeDirectory"
  | "rename"
  | "unlink"
  | "removeTree"
  | "chmod"

/** A call failed. `code` is the system's (`ENOENT`, `ENOSPC`, `EIO`, …). */
export class DiskError extends Schema.TaggedError<DiskError>()("DiskError", {
  call: Schema.String,
  path: Schema.String,
  code: Schema.String,
}) {
  override get message() {
    return `${this.call} ${this.path}: ${this.code}`
  }
}

/** An open file. Only the disk that opened it knows what `handle` is. */
export interface File {
  readonly path: string
  readonly handle: unknown
}

export interface Stat {
  readonly kind: "file" | "directory" | "symlink" | "other"
  readonly size: number
  /** Permission bits only. */
  readonly mode: number
  readonly uid: number
  /** The same for two names of one file, whatever either is called. */
  readonly identity: string
  /** Unix milliseconds. */
  readonly modified: number
}

/**
 * The few calls a durable store needs. No call follows a symbolic link in the last component, none retries, and none is interrupted half-way by us.
 * A write is in the kernel when it succeeds; only `sync` and `syncDirectory` make it survive the machine.
 */
export interface Interface {
  /** Creates the file for writing, 0600 whatever the umask; `EEXIST` where anything has that name. */
  readonly openExclusive: (path: string) => Effect.Effect<File, DiskError>
  /** Opens an existing regular file for reading and for writing at its end. */
  readonly openAppend: (path: string) => Effect.Effect<File, DiskError>
  readonly openRead: (path: string) => Effect.Effect<File, DiskError>
  /** The bytes from `offset`, `length` of them unless the file ends before. */
  readonly read: (file: File, offset: number, length: number) => Effect.Effect<Uint8Array, DiskError>
  /** Writes all bytes at the end of the file. A failure may leave some of them there. */
  readonly write: (file: File, bytes: Uint8Array) => Effect.Effect<void, DiskError>
  readonly size: (file: File) => Effect.Effect<number, DiskError>
  readonly truncate: (file: File, size: number) => Effect.Effect<void, DiskError>
  /** The file's bytes and length are on disk. After a failure the descriptor must not be synced again. */
  readonly sync: (file: File) => Effect.Effect<void, DiskError>
  readonly close: (file: File) => Effect.Effect<void>
  /** The directory's entries are on disk. Does nothing where the system has no such call. */
  readonly syncDirectory: (path: string) => Effect.Effect<void, DiskError>
  /** What has that name, links not followed; `undefined` where nothing has. */
  readonly stat: (path: string) => Effect.Effect<Stat | undefined, DiskError>
  /** The names in a directory, sorted; `undefined` where there is none. */
  readonly list: (path: string) => Effect.Effect<ReadonlyArray<string> | undefined, DiskError>
  /** The names of the directories in a directory, links to one left out; `undefined` where there is none. */
  readonly directories: (path: string) => Effect.Effect<ReadonlyArray<string> | undefined, DiskError>
  /** The whole of a small file; `undefined` where there is none. */
  readonly readFile: (path: string) => Effect.Effect<Uint8Array | undefined, DiskError>
  /** The same of many files at once, each on its own: what cannot be read is a {@link DiskError} in its place. */
  readonly readFiles: (paths: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Uint8Array | undefined | DiskError>>
  /** Creates one directory, 0700 whatever the umask; `EEXIST` where anything has that name. */
  readonly makeDirectory: (path: string) => Effect.Effect<void, DiskError>
  /** Replaces a file, or moves a directory to a free name. */
  readonly rename: (from: string, to: string) => Effect.Effect<void, DiskError>
  /** Removes a file; succeeds where there is none. */
  readonly unlink: (path: string) => Effect.Effect<void, DiskError>
  /** Removes a directory and all in it, links not followed; succeeds where there is none. */
  readonly removeTree: (path: string) => Effect.Effect<void, DiskError>
  readonly chmod: (path: string, mode: number) => Effect.Effect<void, DiskError>
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/store/Disk") {}

export * as Disk from "./Disk.ts"
