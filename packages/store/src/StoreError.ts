import * as Schema from "effect/Schema"
import type { Call, DiskError } from "./Disk.ts"

/** Nothing of that id is in the store. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {
  what: Schema.Literals(["session", "subagent"]),
  id: Schema.String,
}) {
  override get message() {
    return `${this.what} "${this.id}" does not exist; list what is there with: kit ${this.what}s list`
  }
}

/** The id is taken; nothing was written. */
export class AlreadyExists extends Schema.TaggedError<AlreadyExists>()("AlreadyExists", {
  what: Schema.Literals(["session", "subagent"]),
  id: Schema.String,
}) {
  override get message() {
    return `${this.what} "${this.id}" already exists; open it or choose another id`
  }
}

/** The string is no id and never became a path. */
export class InvalidId extends Schema.TaggedError<InvalidId>()("InvalidId", {
  what: Schema.Literals(["session", "subagent"]),
  id: Schema.String,
  why: Schema.String,
}) {
  override get message() {
    return `${JSON.stringify(this.id.slice(0, 80))} is not a ${this.what} id: ${this.why}`
  }
}

/** The agent's own record names another session (K10). */
export class ForeignSession extends Schema.TaggedError<ForeignSession>()("ForeignSession", {
  id: Schema.String,
  session: Schema.String,
  owner: Schema.String,
}) {
  override get message() {
    return `subagent "${this.id}" belongs to session "${this.owner}", not to "${this.session}"; move it with: kit subagents migrate ${this.id} --session ${this.owner} --to ${this.session}`
  }
}

/** Who holds a session open for writing, as far as it said so. */
export const Holder = Schema.Struct({
  pid: Schema.NullOr(Schema.Number),
  host: Schema.NullOr(Schema.String),
  since: Schema.NullOr(Schema.String),
})
export type Holder = typeof Holder.Type

/** Another writer holds the session's lock now. */
export class Locked extends Schema.TaggedError<Locked>()("Locked", { session: Schema.String, holder: Holder }) {
  override get message() {
    const { pid, host, since } = this.holder
    const who = pid === null ? "another process" : `process ${pid}${host === null ? "" : ` on ${host}`}`
    return `session "${this.session}" is open for writing in ${who}${since === null ? "" : ` since ${since}`}; end that process, or use another session`
  }
}

/** Someone else wrote to a file of ours, or the lock went away; this handle writes no more. */
export class LostOwnership extends Schema.TaggedError<LostOwnership>()("LostOwnership", {
  path: Schema.String,
  why: Schema.String,
}) {
  override get message() {
    return `${this.path} was changed by someone else (${this.why}); nothing more is written to it, open the session again`
  }
}

/** The agent runs, or its status is not what the caller believed. Nothing was changed. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", {
  id: Schema.String,
  status: Schema.String,
  wanted: Schema.String,
}) {
  override get message() {
    return `subagent "${this.id}" is ${this.status}; ${this.wanted}`
  }
}

/** The file, or what stands in its place, cannot be trusted. `quarantined` is where a copy of the damage lies. */
export class Corrupt extends Schema.TaggedError<Corrupt>()("Corrupt", {
  path: Schema.String,
  why: Schema.String,
  quarantined: Schema.optionalKey(Schema.String),
  /** What to do about it, where that is not what files of their place have in common. */
  remedy: Schema.optionalKey(Schema.String),
}) {
  override get message() {
    const copy = this.quarantined === undefined ? "" : ` (a copy is in ${this.quarantined})`
    return `${this.path} is damaged: ${this.why}${copy}; ${this.remedy ?? remedyOf(this.path)}`
  }
}

const remedyOf = (path: string): string =>
  path.includes("/subagents/")
    ? "look with: kit subagents verify, mend with: kit subagents repair"
    : "put a copy of it back, or remove the session with: kit sessions delete"

/** A newer Kit wrote this; it is listed, never written, and loses nothing. */
export class NewerVersion extends Schema.TaggedError<NewerVersion>()("NewerVersion", {
  path: Schema.String,
  version: Schema.Number,
  supported: Schema.Number,
}) {
  override get message() {
    return `${this.path} has format version ${this.version}, this Kit supports ${this.supported}; update Kit to open it`
  }
}

/** The disk or the quota is full. What was not acknowledged was not written. */
export class NoSpace extends Schema.TaggedError<NoSpace>()("NoSpace", { path: Schema.String, reason: Schema.String }) {
  override get message() {
    return `no space left to write ${this.path} (${this.reason}); free some, then try again: nothing accepted was lost`
  }
}

/** The system refuses access. */
export class Denied extends Schema.TaggedError<Denied>()("Denied", { path: Schema.String, reason: Schema.String }) {
  override get message() {
    const remedy =
      this.reason === "EROFS"
        ? "its file system is read-only: set KIT_HOME to a directory on one that is not"
        : "the store needs its files to belong to you: chown them, or set KIT_HOME elsewhere"
    return `access to ${this.path} was denied (${this.reason}); ${remedy}`
  }
}

const verbs = {
  openExclusive: "make",
  openAppend: "open",
  openRead: "open",
  read: "read",
  write: "write",
  size: "look at",
  truncate: "cut",
  sync: "sync",
  close: "close",
  syncDirectory: "sync",
  stat: "look at",
  list: "list",
  readFile: "read",
  makeDirectory: "make",
  rename: "rename",
  unlink: "remove",
  removeTree: "remove",
  chmod: "set the mode of",
} as const satisfies Record<Call, string>

const isCall = (call: string): call is Call => Object.hasOwn(verbs, call)

/** What the system says where a path cannot be what the store needs there. */
const misplaced = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ENAMETOOLONG"])

/** The device failed, or the path is no place for files. */
export class Io extends Schema.TaggedError<Io>()("Io", { path: Schema.String, reason: Schema.String, call: Schema.String }) {
  override get message() {
    const remedy = misplaced.has(this.reason)
      ? "KIT_HOME must name a directory that you can write to"
      : "check the disk, then open the session again"
    return `could not ${isCall(this.call) ? verbs[this.call] : this.call} ${this.path} (${this.reason}); ${remedy}`
  }
}

/** What was asked for breaks a rule of the store; nothing was written. */
export class Invalid extends Schema.TaggedError<Invalid>()("Invalid", { what: Schema.String, why: Schema.String }) {
  override get message() {
    return `invalid ${this.what}: ${this.why}`
  }
}

export type Reason =
  | NotFound
  | AlreadyExists
  | InvalidId
  | ForeignSession
  | Locked
  | LostOwnership
  | Busy
  | Corrupt
  | NewerVersion
  | NoSpace
  | Denied
  | Io
  | Invalid

const codes = {
  NotFound: "NOT_FOUND",
  AlreadyExists: "ALREADY_EXISTS",
  InvalidId: "INVALID_ID",
  ForeignSession: "FOREIGN_SESSION",
  Locked: "LOCKED",
  LostOwnership: "LOST_OWNERSHIP",
  Busy: "BUSY",
  Corrupt: "CORRUPT",
  NewerVersion: "NEWER_VERSION",
  NoSpace: "NO_SPACE",
  Denied: "DENIED",
  Io: "IO",
  Invalid: "INVALID",
} as const satisfies Record<Reason["_tag"], string>

/** Stable; the list may grow, a code never changes its meaning. */
export type Code = (typeof codes)[Reason["_tag"]]

/** The one failure of every call of the store. `reason` tells which, `message` says what to do. */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  reason: Schema.Union([
    NotFound,
    AlreadyExists,
    InvalidId,
    ForeignSession,
    Locked,
    LostOwnership,
    Busy,
    Corrupt,
    NewerVersion,
    NoSpace,
    Denied,
    Io,
    Invalid,
  ]),
}) {
  get code(): Code {
    return codes[this.reason._tag]
  }
  override get message() {
    return this.reason.message
  }
}

/** The outer error of one reason. */
export const of = (reason: Reason): StoreError => new StoreError({ reason })

const full = new Set(["ENOSPC", "EDQUOT", "EFBIG"])
const denied = new Set(["EACCES", "EPERM", "EROFS"])
const foreign: Readonly<Record<string, string>> = { EISDIR: "a directory, a pipe or a device", ELOOP: "a symlink" }
/** What to do about what stands in a place of ours and is not ours. */
export const notOurs = "Kit made no such thing and does not touch it; move it away"

/** Whether the failure is one that passes when space is freed. */
export const isFull = (error: DiskError): boolean => full.has(error.code)

/** What a failed call of the disk means to the store's callers. */
export const ofDisk = (error: DiskError): StoreError => {
  const { path, code: reason, call } = error
  if (full.has(reason)) return of(new NoSpace({ path, reason }))
  if (denied.has(reason)) return of(new Denied({ path, reason }))
  const thing = foreign[reason]
  if (thing !== undefined) return of(new Corrupt({ path, why: `${thing} stands where a file belongs`, remedy: notOurs }))
  return of(new Io({ path, reason, call }))
}
