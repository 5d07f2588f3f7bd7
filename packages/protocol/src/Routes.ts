import { isJsonObject, type Json, type JsonObject, stringifyJson, utf8Bytes } from "./Json.ts"
import type { SessionFold } from "./SessionFold.ts"

const maximumParents = 10_000
const maximumOrphanSessions = 64

/** What came for a session that nobody has opened, oldest first. */
interface Orphans {
  readonly updates: Array<{ readonly update: JsonObject; readonly bytes: number }>
  bytes: number
}

/** What is kept for one session that is not known yet. */
export interface OrphanLimits {
  readonly orphans: number
  readonly orphanBytes: number
}

/** Which session an update belongs to, opened or not. */
export class Routes {
  /** An opening call is under way: an unknown id may be the one it will name. */
  opening = 0
  private readonly open = new Map<string, SessionFold>()
  private readonly retired = new Set<string>()
  private readonly parents = new Map<string, string>()
  private readonly orphans = new Map<string, Orphans>()
  private readonly limits: OrphanLimits

  constructor(limits: OrphanLimits) {
    this.limits = limits
  }

  find(sessionId: string): SessionFold | undefined {
    return this.open.get(sessionId)
  }

  /** Opens a session and folds what came for it before it was known, in order; that is replay where `replaying` says so. */
  add(sessionId: string, fold: SessionFold): void {
    this.open.set(sessionId, fold)
    this.retired.delete(sessionId)
    const early = this.orphans.get(sessionId)
    this.orphans.delete(sessionId)
    for (const { update } of early?.updates ?? []) fold.add(update)
  }

  /** Updates of a retired session are let go from now on. */
  remove(sessionId: string): void {
    const fold = this.open.get(sessionId)
    if (fold === undefined) return
    this.open.delete(sessionId)
    this.retired.add(sessionId)
    fold.end()
  }

  /** The connection is gone: no session hears of anything any more. */
  end(): void {
    for (const fold of this.open.values()) fold.end()
  }

  /** Learns from an announcement (`subagent_update`) whose child a session is. */
  learn(sessionId: string, params: Json | undefined): void {
    const update = isJsonObject(params) ? params.update : undefined
    if (!isJsonObject(update) || update.sessionUpdate !== "subagent_update" || typeof update.sessionId !== "string") return
    if (this.parents.size < maximumParents && !this.open.has(update.sessionId)) this.parents.set(update.sessionId, sessionId)
  }

  /**
   * The open session that a session nobody here opened belongs to (R32): the one that announced it, the one whose id its id continues
   * after a colon, else the only one there is.
   */
  parentOf(sessionId: string): string | undefined {
    if (this.open.has(sessionId) || this.retired.has(sessionId)) return undefined
    let at: string | undefined = this.parents.get(sessionId)
    for (let steps = 0; at !== undefined && steps < 32; steps++) {
      if (this.open.has(at)) return at
      at = this.parents.get(at)
    }
    let above: string | undefined
    for (const id of this.open.keys()) {
      if (sessionId[id.length] === ":" && sessionId.startsWith(id) && id.length >= (above?.length ?? 0)) above = id
    }
    if (above !== undefined) return above
    return this.opening === 0 && this.open.size === 1 ? this.open.keys().next().value : undefined
  }

  /** Whether nothing may be permitted to this session any more: its turn is being cancelled, or it, or the one above it, is closed. */
  denies(sessionId: string): boolean {
    if (this.retired.has(sessionId)) return true
    const fold = this.open.get(sessionId) ?? this.open.get(this.parentOf(sessionId) ?? "")
    return fold !== undefined && (fold.cancelling || fold.retired)
  }

  /** Folds an update where it belongs; an unknown session's is kept until the session opens. */
  deliver(sessionId: string, update: JsonObject): void {
    const fold = this.open.get(sessionId)
    if (fold !== undefined) fold.add(update)
    else this.deliverElsewhere(sessionId, update)
  }

  private deliverElsewhere(sessionId: string, update: JsonObject): void {
    if (this.retired.has(sessionId)) return
    const parent = this.parentOf(sessionId)
    if (parent !== undefined) {
      this.open.get(parent)?.pass(sessionId, update)
      return
    }
    this.keep(sessionId, update)
  }

  private keep(sessionId: string, update: JsonObject): void {
    const kept = this.orphans.get(sessionId) ?? { updates: [], bytes: 0 }
    this.orphans.set(sessionId, kept)
    const bytes = utf8Bytes(stringifyJson(update))
    kept.updates.push({ update, bytes })
    kept.bytes += bytes
    while (kept.updates.length > this.limits.orphans || kept.bytes > this.limits.orphanBytes) {
      kept.bytes -= kept.updates.shift()?.bytes ?? 0
    }
    if (this.orphans.size > maximumOrphanSessions) this.orphans.delete(this.orphans.keys().next().value as string)
  }
}
