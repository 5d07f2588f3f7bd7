import type { Json } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { Arguments, type Held } from "../Arguments.ts"
import type { Child, HandleValue } from "../Child.ts"
import type { Parent, Services } from "../Parent.ts"
import { PromptContent } from "../PromptContent.ts"
import { Reconnect } from "../Reconnect.ts"
import { StructuredOutput } from "../StructuredOutput.ts"
import { SubagentError } from "../SubagentError.ts"
import { Task } from "../Task.ts"
import { Turn } from "../Turn.ts"

const keys = ["subagent", "prompt", "output_schema"]

/** Fails where the child has moved on since the value was made (S18). */
export const checkGeneration = (child: Child, held: Held): Effect.Effect<void, SubagentError> =>
  Effect.suspend(() => {
    if (child.generation === held.generation) return Effect.void
    const message = `stale subagent generation ${held.generation}; current generation is ${child.generation}`
    return Effect.fail(
      new SubagentError({
        code: "STALE_GENERATION",
        message,
        retryable: false,
        details: { held: held.generation, current: child.generation },
      }),
    )
  })

/**
 * `prompt({subagent, prompt, output_schema?})` (S11): continues the same session; same id and name, generation + 1. Calls on one session queue, and each
 * checks its generation when its turn comes (S19). A restored child is reconnected first (S101).
 */
export const prompt = Effect.fn("Subagents.prompt")(function* (
  parent: Parent,
  input: Json,
): Effect.fn.Return<HandleValue, SubagentError, Services> {
  const given = yield* Effect.fromResult(Arguments.read("prompt", input, keys))
  const held = yield* Effect.fromResult(Arguments.held(given))
  const blocks = yield* Effect.fromResult(PromptContent.read(given.prompt, parent.limits.lineBytes))
  const output = yield* StructuredOutput.read(given.output_schema)
  const child = yield* Effect.fromResult(parent.children.find(held.id))
  return yield* Effect.gen(function* () {
    yield* parent.children.alive(child)
    yield* checkGeneration(child, held)
    const attachment = yield* Reconnect.attached(parent, child)
    const task = Task.summary(blocks, parent.limits.taskCharacters)
    return yield* Turn.run(parent, child, attachment, { blocks, task, output, generation: child.generation + 1, first: false })
  }).pipe(Semaphore.withPermit(child.gate))
})
