import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import type { StoreError } from "@acp-kit/store/StoreError"
import type { SubagentStore } from "@acp-kit/store/SubagentStore"
import * as Effect from "effect/Effect"

/**
 * Files the frames of one process in the `wire.log` of the child they belong to (K04): those of a session in its own, `initialize` and whatever
 * names no session in that of the child that started the process, a fork's request and answer in both.
 */
export class WireLog {
  readonly #store: SubagentStore.Interface
  readonly #starter: string
  readonly #onFailure: (error: StoreError) => Effect.Effect<void>
  readonly #owners = new Map<string, string>()
  readonly #branches = new Map<string, string>()
  readonly #position = new Map<string, number>()

  constructor(store: SubagentStore.Interface, starter: string, onFailure: (error: StoreError) => Effect.Effect<void>) {
    this.#store = store
    this.#starter = starter
    this.#onFailure = onFailure
  }

  /** Frames of this ACP session belong to that child from now on. */
  assign(sessionId: string, child: string): void {
    this.#owners.set(sessionId, child)
  }

  /** A fork of `sessionId` is about to be asked for on behalf of `branch`; `undefined` when it is over. */
  forking(sessionId: string, branch: string | undefined): void {
    if (branch === undefined) this.#branches.delete(sessionId)
    else this.#branches.set(sessionId, branch)
  }

  /** The number of the last record of a child's log, 0 before the first. */
  position(child: string): number {
    return this.#position.get(child) ?? 0
  }

  #readers(frame: WireFrame): ReadonlyArray<string> {
    const session = frame.parentSessionId ?? frame.sessionId
    const owner = session === undefined ? this.#starter : (this.#owners.get(session) ?? this.#starter)
    const isFork = frame.method === "session/fork" || (frame.kind === "request" && frame.line.includes('"session/fork"'))
    const branch = isFork && session !== undefined ? this.#branches.get(session) : undefined
    return branch === undefined ? [owner] : [owner, branch]
  }

  #append(child: string, event: SubagentStore.WireEvent): Effect.Effect<void> {
    return this.#store.append(child, event).pipe(
      Effect.tap((receipt) => Effect.sync(() => this.#position.set(child, receipt.seq))),
      Effect.catch(this.#onFailure),
      Effect.asVoid,
    )
  }

  /** What is no frame: a start, an exit. */
  note(note: string, data: { readonly [key: string]: string | number | boolean }): Effect.Effect<void> {
    return this.#append(this.#starter, { note, data })
  }

  /** Records frames in wire order, before anybody acts on them; the store takes their secrets out. */
  readonly observe = (frames: ReadonlyArray<WireFrame>): Effect.Effect<void> =>
    Effect.forEach(
      frames,
      (frame) =>
        Effect.forEach(this.#readers(frame), (child) => this.#append(child, { direction: frame.direction, frame: frame.line }), {
          discard: true,
        }),
      { discard: true },
    )
}
