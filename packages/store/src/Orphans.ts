import * as Effect from "effect/Effect"
import * as AgentDocument from "./AgentDocument.ts"
import * as AgentFiles from "./AgentFiles.ts"
import { is as isAgentId } from "./AgentId.ts"
import { isLive } from "./AgentMeta.ts"
import { Disk } from "./Disk.ts"
import * as Layout from "./Layout.ts"
import { ofDisk, type StoreError } from "./StoreError.ts"
import type { Orphan } from "./SubagentStore.ts"

/** What lies in a session's `subagents` directory and belongs to nobody who is there (K12). Reads only. `isLive`: whether a process has the session open; asked only where there is anything. */
export const ofSession = Effect.fn("Orphans.ofSession")(function* <R = never>(
  session: string,
  sessionId: string,
  isLive: Effect.Effect<boolean, StoreError, R>,
): Effect.fn.Return<ReadonlyArray<Orphan>, StoreError, Disk.Service | R> {
  const disk = yield* Disk.Service
  const parent = `${session}/${Layout.subagentsName}`
  const owned = (yield* disk.stat(`${session}/${Layout.sessionFile}`).pipe(Effect.mapError(ofDisk))) !== undefined
  const found: Array<Orphan> = []
  yield* Layout.directory(parent)
  const names = (yield* disk.list(parent).pipe(Effect.mapError(ofDisk))) ?? []
  const live = names.length > 0 && (yield* isLive)
  for (const name of names) {
    const path = `${parent}/${name}`
    if (name.startsWith(Layout.trashPrefix)) {
      const id = name.slice(Layout.trashPrefix.length, name.lastIndexOf("."))
      if (!live)
        found.push({ path, id, why: "unfinished_delete", detail: "a deletion was cut short; the next opening finishes it" })
    } else if (name.startsWith(Layout.stagingPrefix)) {
      if (!live) {
        const id = name.slice(Layout.stagingPrefix.length)
        found.push({ path, id, why: "unfinished_create", detail: "a creation was cut short; nobody was given the agent" })
      }
    } else {
      const orphan = yield* judge(path, name, sessionId, owned, live)
      if (orphan !== undefined) found.push(orphan)
    }
  }
  return found
})

const judge = Effect.fnUntraced(function* (
  path: string,
  name: string,
  sessionId: string,
  owned: boolean,
  live: boolean,
): Effect.fn.Return<Orphan | undefined, StoreError, Disk.Service> {
  if (!isAgentId(name)) return { path, id: name, why: "no_metadata", detail: "its name is no agent id" }
  const disk = yield* Disk.Service
  const stat = yield* disk.stat(path).pipe(Effect.mapError(ofDisk))
  if (stat === undefined) return undefined
  if (stat.kind !== "directory") return { path, id: name, why: "no_metadata", detail: `it is a ${stat.kind}` }
  const file = `${path}/${Layout.metaFile}`
  if ((yield* disk.stat(file).pipe(Effect.mapError(ofDisk))) === undefined) {
    return { path, id: name, why: "no_metadata", detail: `it has no ${Layout.metaFile}` }
  }
  const meta = yield* AgentFiles.readMeta(path, name).pipe(
    Effect.flatMap((raw) => AgentDocument.view(file, raw)),
    Effect.match({ onFailure: (error) => error, onSuccess: (view) => view }),
  )
  if ("reason" in meta) return { path, id: name, why: "damaged_metadata", detail: meta.message }
  if (meta.session_id !== sessionId) return { path, id: name, why: "foreign", detail: `it belongs to session ${meta.session_id}` }
  if (!owned) return { path, id: name, why: "owner_gone", detail: `session ${sessionId} has no ${Layout.sessionFile}` }
  if (!live && isLive(meta.status))
    return { path, id: name, why: "process_gone", detail: `its process ended while it was ${meta.status}` }
  return undefined
})

export * as Orphans from "./Orphans.ts"
