import * as Effect from "effect/Effect"
import type { Child } from "./Child.ts"
import type { Parent } from "./Parent.ts"

/**
 * Gives up a child's session: the process ends with its last one (S16). Where others live in it, the session is closed, if the harness can,
 * and they go on (S17). History is never deleted here (S15). `unsettled` says that a cancelled turn did not end: then the session must go,
 * with the process if need be.
 */
export const release = (parent: Parent, child: Child, how?: "unsettled"): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.suspend(() => {
      const { attachment } = child
      if (attachment === undefined) return Effect.void
      child.attachment = undefined
      const { connection, session } = attachment
      connection.residents.delete(child.id)
      const end = connection.stop(how === undefined ? undefined : "afterCancel")
      if (connection.residents.size === 0) return end
      return session.close.pipe(
        Effect.catch((error) => {
          if (how === "unsettled") return end
          return error._tag === "CapabilityMissing" || error._tag === "TransportClosed"
            ? Effect.void
            : Effect.sync(() =>
                parent.roster.log(child.harness.slice("acp.".length), `session of ${child.name} was left open: ${error.message}`),
              )
        }),
      )
    }),
  )
