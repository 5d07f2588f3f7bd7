import * as Effect from "effect/Effect"
import type { Child } from "./Child.ts"
import type { Parent } from "./Parent.ts"

/** What is known of the session that is given up: its turn would not end, or it was closed at the child already. */
export type How = "unsettled" | "closed"

/**
 * Gives up a child's session: the process ends with its last one (S16). Where others live in it, the session is closed, if the harness can,
 * and they go on (S17). History is never deleted here (S15). One that is `unsettled` must go, with the process if need be.
 */
export const release = (parent: Parent, child: Child, how?: How): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.suspend(() => {
      const { attachment } = child
      if (attachment === undefined) return Effect.void
      child.attachment = undefined
      const { connection, session } = attachment
      connection.residents.delete(child.id)
      const end = connection.stop(how === "unsettled" ? "afterCancel" : undefined)
      if (connection.residents.size === 0) return end
      if (how === "closed") return Effect.void
      return Effect.catch(session.close, (error) => {
        if (how === "unsettled") return end
        if (error._tag === "CapabilityMissing" || error._tag === "TransportClosed") return Effect.void
        const line = `session of ${child.name} was left open: ${connection.quote(error.message)}`
        return Effect.sync(() => parent.roster.log(child.harness.slice("acp.".length), line))
      })
    }),
  )
