import * as Effect from "effect/Effect"
import type { Code } from "../Frame.ts"
import type { NodeKind } from "../Graph.ts"
import { Failed, Later, type Result, whenSettled } from "../Outcome.ts"
import type { Expr } from "../Syntax.ts"

/** The same code, telling the recorder of a run about it if there is one. */
export const observed = (kind: NodeKind, label: string, expr: Expr, code: Code): Code => {
  return (frame, task, depth) => {
    const { graph } = task.run
    if (graph === undefined) return code(frame, task, depth)
    const node = graph.add(kind, label, expr.span, frame.attempt, frame.owner)
    if (node === undefined) return code(frame, task, depth)
    frame.note(expr, node)
    if (kind === "branch" || kind === "loop" || kind === "boundary") graph.update(node, "running")
    return told(code(frame, task, depth), (state, more) => graph.update(node, state, more))
  }
}

type Tell = (
  state: "succeeded" | "failed" | "cancelled",
  more: {
    readonly output?: Exclude<Result, { settled: boolean }>
    readonly error?: { readonly code: string; readonly message: string }
  },
) => void

/** Reports how a result settles. */
export const told = (result: Result, tell: Tell): Result => {
  const watched = whenSettled(result, (settled) => {
    if (settled instanceof Failed) tell("failed", { error: { code: settled.code, message: settled.message } })
    else tell("succeeded", { output: settled })
    return settled
  })
  return watched instanceof Later
    ? new Later(Effect.onInterrupt(watched.effect, () => Effect.sync(() => tell("cancelled", {}))))
    : watched
}
