import type { PlatformError } from "effect/PlatformError"

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or directory",
  ENOTDIR: "a part of its path is not a directory",
  EISDIR: "it is a directory",
  EEXIST: "it exists already",
  EACCES: "access is denied; look at its owner and mode, and at those of the directories above it",
  EPERM: "the system does not permit it; look at its owner and mode",
  EROFS: "its file system is read-only; choose another place",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the quota is used up",
  EFBIG: "the file may not grow any further",
  ENOMEM: "it is larger than the memory",
  ERR_FS_FILE_TOO_LARGE: "it is too large to be read",
  EIO: "the device failed",
  EBUSY: "it is in use",
  ELOOP: "its links lead nowhere",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "too many files are open; raise the limit with ulimit -n",
  ENFILE: "too many files are open on this machine",
  EPIPE: "nobody reads it any more",
  EBADF: "it is closed, or not open for writing",
}

/** The code that the system gave to a failure of one of its calls, as `ENOENT`; `UNKNOWN` where there is none. */
export const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "UNKNOWN"

/** A code of the system in words, with what can be done about it where that is known: the end of the sentence `could not … PATH: `. */
export const explain = (code: string): string => reasons[code] ?? `the system said ${code}`

/** Why a call of the file system failed, in words. */
export const why = ({ reason }: PlatformError): string =>
  reason._tag !== "BadArgument" && codeOf(reason.cause) !== "UNKNOWN"
    ? explain(codeOf(reason.cause))
    : (reason.description ?? reason.message)

export * as SystemFailure from "./SystemFailure.ts"
