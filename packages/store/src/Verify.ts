import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as AgentContext from "./AgentContext.ts"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { Disk } from "./Disk.ts"
import * as Layout from "./Layout.ts"
import { isGap } from "./LogDecoder.ts"
import { activePath, type LogName, segments } from "./LogFiles.ts"
import * as LogReader from "./LogReader.ts"
import { describeGap } from "./LogRecovery.ts"
import type { LogGap } from "./Record.ts"
import { Repair } from "./Repair.ts"
import { ofDisk, type StoreError } from "./StoreError.ts"
import type { Finding } from "./SubagentStore.ts"
import type { Warning } from "./Warning.ts"

const ok = (path: string, message: string): Finding => ({ path, severity: "ok", message })
const warning = (path: string, message: string): Finding => ({ path, severity: "warning", message })
const error = (path: string, message: string): Finding => ({ path, severity: "error", message })

/** Reads every file of an agent and says what is right and wrong with each. Writes nothing. */
export const agent = Effect.fn("Verify.agent")(function* (
  directory: string,
  sessionId: string,
  agentId: string,
): Effect.fn.Return<ReadonlyArray<Finding>, StoreError, Disk.Service> {
  const findings: Array<Finding> = []
  const metaPath = `${directory}/${Layout.metaFile}`
  const meta = yield* AgentFiles.readMeta(directory, agentId).pipe(
    Effect.flatMap((raw) => AgentDocument.view(metaPath, raw)),
    Effect.tap((view) => AgentFiles.checkOwner(view, sessionId, agentId, metaPath)),
    Effect.match({ onFailure: (failure) => failure, onSuccess: (view) => view }),
  )
  if ("reason" in meta) findings.push(error(metaPath, meta.message))
  else findings.push(ok(metaPath, `status ${meta.status}, revision ${meta.rev}`))

  const promptPath = `${directory}/${Layout.promptFile}`
  if ("reason" in meta) findings.push(warning(promptPath, "cannot be compared: the metadata that holds its checksum is damaged"))
  else {
    const failure = yield* AgentFiles.readPrompt(directory, meta).pipe(
      Effect.match({ onFailure: (cause) => cause, onSuccess: () => undefined }),
    )
    findings.push(
      failure === undefined
        ? ok(promptPath, `${meta.prompt.bytes} bytes, checksum as at creation`)
        : error(promptPath, failure.message),
    )
  }

  findings.push(...(yield* wideModes(directory)))
  const name = { directory, ...Layout.wireLog }
  findings.push(...(yield* readable(activePath(name), log(name))))

  const contextPath = `${directory}/${Layout.contextFile}`
  const warnings: Array<Warning> = []
  const snapshot = yield* AgentFiles.readSnapshot(contextPath, warnings).pipe(
    Effect.match({ onFailure: (cause) => cause, onSuccess: (view) => view }),
  )
  for (const { path, message } of warnings) findings.push(warning(path, message))
  if (snapshot !== undefined && "reason" in snapshot) findings.push(error(contextPath, snapshot.message))
  else if (snapshot !== undefined) {
    const last = (yield* Effect.orElseSucceed(LogReader.tail(name, 1), () => []))[0]?.seq ?? 0
    const behind = Math.max(0, last - snapshot.position.seq)
    findings.push(
      snapshot.position.seq > last
        ? error(contextPath, `it stands at record ${snapshot.position.seq}, the wire log ends at ${last}: records are lost`)
        : ok(
            contextPath,
            behind === 0
              ? `current, at record ${last}`
              : `at record ${snapshot.position.seq}; ${behind} later ones are in the wire log`,
          ),
    )
  }
  return findings
})

/** What a check found; that it could not be made is a finding too. */
const readable = (
  path: string,
  check: Effect.Effect<ReadonlyArray<Finding>, StoreError, Disk.Service>,
): Effect.Effect<ReadonlyArray<Finding>, never, Disk.Service> =>
  Effect.catch(check, (failure) => Effect.succeed([error(path, failure.message)]))

/** What of the directory others may read or write. */
const wideModes = Effect.fnUntraced(function* (
  directory: string,
): Effect.fn.Return<ReadonlyArray<Finding>, StoreError, Disk.Service> {
  const wide = yield* Repair.wide(directory)
  return wide.map(({ path, mode }) => warning(path, `its mode is ${mode.toString(8)}; others can use it, until it is repaired`))
})

/** Reads every byte of a log: gaps are errors unless a repair has set them aside, a torn tail is a warning, as the next opening cuts it. */
export const log = Effect.fn("Verify.log")(function* (
  name: LogName,
): Effect.fn.Return<ReadonlyArray<Finding>, StoreError, Disk.Service> {
  const disk = yield* Disk.Service
  const findings: Array<Finding> = []
  const path = activePath(name)
  let records = 0
  let understood = true
  const gaps = new Map<string, { readonly gap: LogGap; known: boolean }>()
  yield* LogReader.replay(name).pipe(
    Stream.runForEach((element) =>
      Effect.sync(() => {
        if (isGap(element)) gaps.set(Repair.gapKey(element), { gap: element, known: false })
        else {
          const known = gaps.get(Repair.knownGap(element) ?? "")
          if (known !== undefined) known.known = true
          records++
          understood = AgentContext.replayOnto({}, element) && understood
        }
      }),
    ),
  )
  for (const { gap, known } of gaps.values()) {
    const message = `segment ${gap.segment}: ${describeGap(gap)}`
    findings.push(known ? warning(path, `${message}; repair knows of it`) : error(path, message))
  }
  const all = yield* segments(name)
  if (!all.some((segment) => segment.number === undefined))
    findings.push(warning(path, "it is missing; the next opening begins it anew"))
  else {
    const size = (yield* disk.stat(path).pipe(Effect.mapError(ofDisk)))?.size ?? 0
    const torn = size - (yield* LogReader.intactEnd(path))
    if (torn > 0)
      findings.push(warning(path, `${torn} bytes of an unfinished write stand at its end; the next opening cuts them`))
  }
  if (!understood) findings.push(warning(path, "some state records hold changes that this Kit does not know"))
  if (findings.length === 0)
    findings.push(ok(path, `${records} records in ${all.length} ${all.length === 1 ? "file" : "files"}, numbered without gaps`))
  return findings
})

export * as Verify from "./Verify.ts"
