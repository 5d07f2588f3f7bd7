import { environment } from "@acp-kit/store/AgentLaunchSpec"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Attachment, Child } from "./Child.ts"
import { Harness } from "./Harness.ts"
import { ModelPolicy } from "./ModelPolicy.ts"
import type { Parent, Services } from "./Parent.ts"
import { type Request, Start } from "./Start.ts"
import { SubagentError } from "./SubagentError.ts"

const kept: ReadonlySet<string> = new Set(["AUTH_REQUIRED", "CAPACITY", "CANCELLED", "RECONNECT_FAILED"])

const failed = (child: Child, message: string, cause?: string): SubagentError =>
  new SubagentError({
    code: "RECONNECT_FAILED",
    message: `could not reconnect ${JSON.stringify(child.name)}: ${message}`,
    retryable: true,
    ...(cause === undefined ? {} : { details: { cause } }),
  })

/** How a restored child starts again: under the configuration of now, from what was stored at its launch (S101). */
export const requestFor = Effect.fnUntraced(function* (parent: Parent, child: Child): Effect.fn.Return<Request, SubagentError> {
  const profile = Harness.resolve(parent.options.harnesses, child.harness)
  if (Result.isFailure(profile)) {
    return yield* failed(
      child,
      `durable child harness ${JSON.stringify(child.harness)} is no longer configured`,
      profile.failure.code,
    )
  }
  const { policy, reference } = profile.success
  const model = child.model === undefined ? Result.succeed(undefined) : ModelPolicy.resolve(policy, reference, child.model)
  if (Result.isFailure(model)) return yield* failed(child, model.failure.message, model.failure.code)
  const loaded = yield* Effect.mapError(parent.options.session.subagents.load(child.id), (error) =>
    failed(child, error.message, error.code),
  )
  const env = yield* Effect.mapError(environment(loaded.meta.spec, parent.host.env), (error) => failed(child, error.message))
  child.context = loaded.context
  return {
    child,
    profile: profile.success,
    model: model.success,
    systemPrompt: loaded.prompt,
    env,
    secrets: loaded.meta.spec.secret_env,
    resume: child.sessionId ?? child.id,
  }
})

/**
 * Where the session of an idle child lives; a restored child gets its process first, attached to the same session and never to another (S103 to S105).
 * Where that fails, or is interrupted, the handle is as it was.
 */
export const attached = Effect.fn("Reconnect.attached")(function* (
  parent: Parent,
  child: Child,
): Effect.fn.Return<Attachment, SubagentError, Services> {
  const { children } = parent
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      if (child.attachment !== undefined) return child.attachment
      yield* Effect.fromResult(children.room())
      yield* children.move(child, "reconnect")
      const starting = Effect.flatMap(requestFor(parent, child), (request) => Start.start(parent, request))
      return yield* restore(starting).pipe(
        Effect.mapError((error) => (kept.has(error.code) ? error : failed(child, error.message, error.code))),
        Effect.onExit(() => children.move(child, child.attachment === undefined ? "unreachable" : "attached")),
      )
    }),
  )
})

export * as Reconnect from "./Reconnect.ts"
