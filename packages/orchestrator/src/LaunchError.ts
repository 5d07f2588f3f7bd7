import type { SpawnFailed } from "@acp-kit/platform/Processes"
import type { ProtocolError } from "@acp-kit/protocol/ProtocolError"
import type { TransportClosed } from "@acp-kit/protocol/Transport"
import { ChildWords } from "./ChildWords.ts"
import type { Profile } from "./Harness.ts"
import { Limits } from "./Limits.ts"
import { SubagentError } from "./SubagentError.ts"

/** What the process was known to do, as details of a failure. */
export const exitDetails = (closed: TransportClosed): NonNullable<SubagentError["details"]> => ({
  ...(closed.exitCode === undefined ? {} : { exitCode: closed.exitCode }),
  ...(closed.signal === undefined ? {} : { signal: closed.signal }),
  ...(closed.stderrTail === "" ? {} : { stderr: closed.stderrTail }),
})

const exitWords = ({ exitCode, signal, reason, fault }: TransportClosed): string => {
  if (fault !== undefined) return fault
  if (exitCode !== undefined) return `exit status ${exitCode}`
  return signal === undefined ? `connection closed (${reason})` : `signal ${signal}`
}

/** Of a process that ended, or was given up, before it answered (S163), and how. */
export const exitedWithout = (answer: string, closed: TransportClosed): string =>
  `nested agent process exited without ${answer}${closed.fault === undefined ? ` (${exitWords(closed)})` : `: ${closed.fault}`}`

const where = (profile: Profile, cwd = "configured working directory"): string =>
  `(harness=${JSON.stringify(profile.reference)}, source=${profile.source}, cwd=${cwd})`

const nothingDone = { retryable: true } as const

const spawnWords = ({ command, reason }: SpawnFailed): string => {
  const quoted = JSON.stringify(command)
  if (reason === "ENOENT") return command.includes("/") ? `there is no ${quoted}` : `there is no ${quoted} on PATH`
  return reason === "EACCES" ? `${quoted} may not be executed` : `${quoted} could not be started`
}

const remedy = ({ source, reference }: Profile): string =>
  source === "built-in current executable"
    ? "verify the installation of kit, and the working directory"
    : `verify its installation, PATH, the working directory, and command of [${reference}] in config.toml`

/** `cwd` is where it would have run; where it is gone, the system says the same as of a command that is. */
export const spawnFailure = (profile: Profile, failure: SpawnFailed, cwd: string): SubagentError =>
  new SubagentError({
    code: "SPAWN",
    message: `ACP harness spawn failure: ${failure.reason}: ${spawnWords(failure)} ${where(profile, JSON.stringify(cwd))}; ${remedy(profile)}`,
    details: { reason: failure.reason, command: failure.command, cwd },
    ...nothingDone,
  })

/** `stray` are lines that were no frames: they stood in place of the answer (S120). */
export const handshakeTimeout = (profile: Profile, limits: Limits.Interface, stray: ReadonlyArray<string>): SubagentError => {
  const hint = stray.length === 0 ? "" : "; its stdout carried lines that are no protocol messages"
  return new SubagentError({
    code: "HANDSHAKE_TIMEOUT",
    message: `ACP harness handshake timeout: no response within ${Limits.seconds(limits.startupMs)}${hint} ${where(profile)}`,
    ...(stray.length === 0 ? {} : { details: { stray } }),
    ...nothingDone,
  })
}

export const earlyExit = (profile: Profile, closed: TransportClosed, stray: ReadonlyArray<string>): SubagentError =>
  new SubagentError({
    code: "EXITED",
    message: `nested agent exited during startup: ${exitWords(closed)} ${where(profile)}`,
    details: { ...exitDetails(closed), ...(stray.length === 0 ? {} : { stray }) },
    ...nothingDone,
  })

const handshakeFailure = (profile: Profile, detail: string, words = ""): SubagentError =>
  new SubagentError({
    code: "HANDSHAKE_FAILED",
    message: `ACP harness protocol handshake failure: ${detail}${words === "" ? "" : `: ${words}`} ${where(profile)}`,
    brief: `ACP harness protocol handshake failure: ${detail}`,
    ...nothingDone,
  })

const answeredWithError = (profile: Profile, { method, code }: ProtocolError.RpcError, words: string): SubagentError =>
  handshakeFailure(profile, `the child answered ${method} with error ${code}`, words)

/** The method ids are all that is told of a login that is missing (S123). */
export const authRequired = (
  profile: Pick<Profile, "reference">,
  methodIds: ReadonlyArray<string>,
  prefix = "",
): SubagentError => {
  const ids =
    methodIds.length === 0 ? "no methodId advertised" : `methodId: ${methodIds.map((id) => JSON.stringify(id)).join(", ")}`
  return new SubagentError({
    code: "AUTH_REQUIRED",
    message: `${prefix}child authentication required (auth_required; ${ids}); log in to the configured ACP harness outside Kit, then retry. Kit does not run child authentication commands`,
    details: { harness: profile.reference, methodIds },
    ...nothingDone,
  })
}

const missing = (profile: Profile, capability: ProtocolError.CapabilityMissing["capability"]): SubagentError => {
  switch (capability) {
    case "additionalDirectories":
      return new SubagentError({
        code: "DIRECTORIES_UNSUPPORTED",
        message: `ACP harness ${JSON.stringify(profile.reference)} does not advertise additional project directory support`,
        retryable: false,
      })
    case "load":
      return new SubagentError({
        code: "RECONNECT_FAILED",
        message: `ACP harness ${JSON.stringify(profile.reference)} does not advertise session/load for restart recovery`,
        retryable: false,
      })
    case "session":
      return handshakeFailure(profile, "the child does not advertise session support")
    default:
      return handshakeFailure(profile, `the child does not advertise ${capability}`)
  }
}

/** What a start that failed says (S163, decision 25). Of a login that is missing nothing but its ids is passed on (S123); other words of the child are, quoted. */
export const ofStart = (
  profile: Profile,
  error: Exclude<ProtocolError.ConnectError, ProtocolError.VersionRejected> | ProtocolError.SessionRetired,
  stray: ReadonlyArray<string>,
  quote: ChildWords.Quote,
): SubagentError => {
  switch (error._tag) {
    case "TransportClosed":
      return earlyExit(profile, error, stray)
    case "AuthRequired":
      return authRequired(profile, error.methodIds, `ACP harness ${JSON.stringify(profile.reference)}: `)
    case "UnsupportedVersion":
      return new SubagentError({
        code: "UNSUPPORTED_VERSION",
        message: `ACP harness selected unsupported protocol version ${error.named}`,
        retryable: false,
      })
    case "CapabilityMissing":
      return missing(profile, error.capability)
    case "RpcError":
      return answeredWithError(profile, error, quote(ChildWords.wordsOf(error)))
    case "MalformedResult":
      return handshakeFailure(profile, error.message)
    case "SessionRetired":
      return handshakeFailure(profile, "the session ended while it was set up")
  }
}

export * as LaunchError from "./LaunchError.ts"
