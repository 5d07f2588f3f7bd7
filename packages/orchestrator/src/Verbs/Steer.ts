import type { Json } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import { Arguments } from "../Arguments.ts"
import { lost, retired } from "../Children.ts"
import { admissions } from "../Handles.ts"
import { LaunchError } from "../LaunchError.ts"
import type { Parent } from "../Parent.ts"
import { PromptContent } from "../PromptContent.ts"
import { SubagentError } from "../SubagentError.ts"
import { unsupportedContent } from "../Turn.ts"

const keys = ["id", "prompt"]

const notNow = (message: string): SubagentError => new SubagentError({ code: "NOT_WORKING", message, retryable: true })

const notWorking = () => notNow("steer requires a working subagent session")

/**
 * `steer({id, prompt})` (S30 to S34): injects guidance into a working turn and returns the child's receipt. Neither the turn nor the generation changes,
 * and a caller that gives up does not revoke what was sent.
 */
export const steer = Effect.fn("Subagents.steer")(function* (parent: Parent, input: Json): Effect.fn.Return<Json, SubagentError> {
  const given = yield* Effect.fromResult(Arguments.read("steer", input, keys))
  const id = yield* Effect.fromResult(Arguments.id(given))
  const blocks = yield* Effect.fromResult(PromptContent.read(given.prompt, parent.limits.lineBytes))
  const child = yield* Effect.fromResult(parent.children.find(id))
  const admission = admissions.steer[child.state]
  if (admission === "retired") return yield* retired()
  if (admission === "starting") return yield* notNow("subagent session is still starting")
  const { attachment } = child
  if (admission !== "go" || attachment === undefined) return yield* notWorking()
  return yield* Effect.catchTags(attachment.session.steer(blocks), {
    CapabilityMissing: () =>
      Effect.fail(
        new SubagentError({
          code: "STEER_UNSUPPORTED",
          message: `ACP harness ${JSON.stringify(child.harness)} does not advertise steering; it needs ACP v2 and session/inject`,
          retryable: false,
        }),
      ),
    NotWorking: () => Effect.fail(notWorking()),
    SessionRetired: () => Effect.fail(retired()),
    ContentRefused: ({ message }) => Effect.fail(unsupportedContent(message)),
    DeadlineExceeded: () =>
      Effect.fail(
        new SubagentError({
          code: "STEER_UNKNOWN",
          message: "steer acknowledgement timed out; delivery is unknown",
          uncertain: true,
        }),
      ),
    AuthRequired: ({ methodIds }) => Effect.fail(LaunchError.authRequired({ reference: child.harness }, methodIds)),
    TransportClosed: () => Effect.fail(lost()),
    RpcError: ({ code, message }) =>
      Effect.fail(
        new SubagentError({
          code: "STEER_REJECTED",
          message: `the child refused the guidance: ${attachment.connection.quote(message)} (${code})`,
        }),
      ),
    MalformedResult: ({ message }) =>
      Effect.fail(new SubagentError({ code: "STEER_UNKNOWN", message: `${message}; delivery is unknown`, uncertain: true })),
  })
})
