import type { ProtocolError } from "@acp-kit/protocol/ProtocolError"
import type { Json } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import { Arguments } from "../Arguments.ts"
import type { Attachment, Child } from "../Child.ts"
import { retired } from "../Children.ts"
import type { Quote } from "../ChildWords.ts"
import { admissions } from "../Handles.ts"
import { LaunchError } from "../LaunchError.ts"
import { Limits } from "../Limits.ts"
import type { Parent, Services } from "../Parent.ts"
import { Reconnect } from "../Reconnect.ts"
import { release } from "../Release.ts"
import { Start } from "../Start.ts"
import { SubagentError } from "../SubagentError.ts"

/** Whatever a value or a row of `subagents({})` has; only the id counts. */
const keys = ["id", "name", "output", "generation", "updates", "status", "task"]

const refused = (message: string): SubagentError => new SubagentError({ code: "CLOSE_FAILED", message, retryable: true })

/** What cannot be undone any more failed: the handle is gone, and this is what stayed behind (decision 7). */
const leftBehind = (code: "CLOSE_FAILED" | "DELETE_FAILED", child: Child, why: string): SubagentError =>
  new SubagentError({
    code,
    message: `${why}; the handle is retired, session ${JSON.stringify(child.sessionId ?? child.id)} of ${child.harness} was left behind`,
    retryable: false,
    uncertain: true,
    details: { session: child.sessionId ?? child.id, harness: child.harness },
  })

type RemoteError = ProtocolError.CallError | ProtocolError.CapabilityMissing | ProtocolError.DeadlineExceeded

const wordsOf = (
  method: "session/close" | "session/delete",
  limits: Limits.Interface,
  quote: Quote,
  error: RemoteError,
): string => {
  switch (error._tag) {
    case "DeadlineExceeded":
      return `ACP harness did not answer ${method} within ${Limits.seconds(method === "session/close" ? limits.closeMs : limits.deleteMs)}`
    case "TransportClosed":
      return LaunchError.exitedWithout(`a ${method === "session/close" ? "close" : "delete"} response`, error)
    default:
      return `${method} failed: ${quote(error.message)}`
  }
}

/** The harness does not know the session any more, which is what closing and deleting want. */
export const isGone = (error: RemoteError): boolean => error._tag === "RpcError" && error.code === -32_002

/** Closes the session at the child, then deletes its history, each where the child can (S14). */
const closeRemote = Effect.fnUntraced(function* (
  parent: Parent,
  child: Child,
  { connection, session }: Attachment,
): Effect.fn.Return<void, SubagentError> {
  const { capabilities } = connection.client
  if (child.unsettled && connection.residents.size === 1) {
    if (capabilities.delete)
      return yield* leftBehind("DELETE_FAILED", child, "the child did not settle and was ended before session/delete")
    return
  }
  if (capabilities.close) {
    yield* Effect.catchIf(session.close, isGone, () => Effect.void).pipe(
      Effect.mapError((error) =>
        leftBehind("CLOSE_FAILED", child, wordsOf("session/close", parent.limits, connection.quote, error)),
      ),
    )
  }
  if (capabilities.delete) {
    yield* Effect.catchIf(session.delete, isGone, () => Effect.void).pipe(
      Effect.mapError((error) =>
        leftBehind("DELETE_FAILED", child, wordsOf("session/delete", parent.limits, connection.quote, error)),
      ),
    )
  }
})

const endAttached = (parent: Parent, child: Child): Effect.Effect<void, SubagentError> =>
  Effect.suspend(() => {
    const { attachment } = child
    if (attachment === undefined) return Effect.void
    return Effect.onExit(closeRemote(parent, child, attachment), (exit) => {
      const alone = attachment.connection.residents.size === 1
      return release(parent, child, child.unsettled && (alone || Exit.isFailure(exit)) ? "unsettled" : "closed")
    })
  })

/** A restored child is started once more so that its session can be closed and its history deleted (S108). */
const endDetached = Effect.fnUntraced(function* (parent: Parent, child: Child): Effect.fn.Return<void, SubagentError, Services> {
  yield* Reconnect.requestFor(parent, child).pipe(
    Effect.flatMap((request) => Start.start(parent, request)),
    Effect.mapError((error) => leftBehind("CLOSE_FAILED", child, error.message)),
  )
  yield* endAttached(parent, child)
})

/** What is known before anything is sent: then the handle stays (decision 7). */
const check = (child: Child): Effect.Effect<void, SubagentError> =>
  Effect.suspend(() => {
    if (admissions.close[child.state] === "reconnecting") {
      return Effect.fail(refused("subagent reconnect is still starting; retry close after startup finishes"))
    }
    const { connection } = child.attachment ?? {}
    const alone = connection === undefined || connection.residents.size === 1
    return alone || connection.client.capabilities.close
      ? Effect.void
      : Effect.fail(refused("ACP harness does not support closing one session while sibling sessions share its process"))
  })

/** Writes the tombstone and takes the handle away; where it cannot be written, the handle is as it was. What is left to do is started. */
const bury = (parent: Parent, child: Child): Effect.Effect<Fiber.Fiber<void, SubagentError>, SubagentError> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const end = child.state === "detached" ? endDetached(parent, child) : endAttached(parent, child)
      if (!parent.children.closing(child)) return yield* retired()
      yield* Effect.onError(parent.checkpoints.closed(child), () => Effect.sync(() => parent.children.kept(child)))
      parent.children.retire(child, "closed")
      return yield* parent.fork(Semaphore.withPermit(child.gate, end))
    }),
  )

/** The same for a child whose process ended between turns: it is closed as a restored one is, so that the next run does not find it (S108). */
const buryLost = (parent: Parent, child: Child): Effect.Effect<Fiber.Fiber<void, SubagentError>, SubagentError> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      yield* Effect.onError(parent.checkpoints.closed(child), () => Effect.sync(() => parent.children.putLost(child)))
      return yield* parent.fork(endDetached(parent, child))
    }),
  )

/**
 * `close(value)` or `close({id})` (S13, S14, S16, S17): ends a session for good. Once the tombstone is on disk the handle is gone whatever the child
 * answers, and what follows goes on without its caller; a turn at work is cancelled and fails as retired.
 */
export const close = Effect.fn("Subagents.close")(function* (
  parent: Parent,
  input: Json,
): Effect.fn.Return<Json, SubagentError, Services> {
  const given = yield* Effect.fromResult(Arguments.read("close", input, keys))
  const id = yield* Effect.fromResult(Arguments.id(given))
  const lost = parent.children.takeLost(id)
  if (lost !== undefined) {
    yield* Fiber.join(yield* buryLost(parent, lost))
    return { id }
  }
  const child = yield* Effect.fromResult(parent.children.find(id))
  yield* parent.children.alive(child)
  yield* check(child)
  yield* Fiber.join(yield* bury(parent, child))
  return { id: child.id }
})
