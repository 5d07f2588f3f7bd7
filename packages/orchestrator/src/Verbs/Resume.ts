import type { Json } from "@acp-kit/runlet/Host"
import { is as isAgentId } from "@acp-kit/store/AgentId"
import { type AgentLaunchSpec, environment } from "@acp-kit/store/AgentLaunchSpec"
import type { LoadedAgent } from "@acp-kit/store/SubagentStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { invalid } from "../Arguments.ts"
import type { Child, HandleValue } from "../Child.ts"
import { retired } from "../Children.ts"
import { Harness } from "../Harness.ts"
import { ModelPolicy } from "../ModelPolicy.ts"
import type { Parent, Services } from "../Parent.ts"
import { PromptContent } from "../PromptContent.ts"
import { Reconnect } from "../Reconnect.ts"
import { Start } from "../Start.ts"
import { type OutputSchema, StructuredOutput } from "../StructuredOutput.ts"
import { SubagentError } from "../SubagentError.ts"
import { Task } from "../Task.ts"
import { Turn } from "../Turn.ts"
import { inferVendor } from "../Vendor.ts"
import { WorkingDirectory } from "../WorkingDirectory.ts"

/** What an agent is asked next. */
export interface Request {
  readonly id: string
  readonly prompt: Json
  readonly output_schema?: Json
}

interface Next {
  readonly blocks: ReadonlyArray<Json>
  readonly task: string
  readonly output: OutputSchema | undefined
}

const goOn = (parent: Parent, child: Child, next: Next): Effect.Effect<HandleValue, SubagentError, Services> =>
  Effect.gen(function* () {
    yield* parent.children.alive(child)
    const attachment = yield* Reconnect.attached(parent, child)
    return yield* Turn.run(parent, child, attachment, { ...next, generation: child.generation + 1, first: false })
  }).pipe(Semaphore.withPermit(child.gate))

const profileOf = Effect.fnUntraced(function* (parent: Parent, spec: AgentLaunchSpec) {
  const profile = yield* Effect.fromResult(Harness.resolve(parent.options.harnesses, spec.harness))
  const model =
    spec.model === undefined
      ? undefined
      : yield* Effect.fromResult(ModelPolicy.resolve(profile.policy, profile.reference, spec.model))
  return { profile, model }
})

/** An agent that was launched and never prompted: its files are complete, so it starts now as it would have then (K07). */
const begin = Effect.fnUntraced(function* (
  parent: Parent,
  { meta, prompt, context }: LoadedAgent,
  next: Next,
): Effect.fn.Return<HandleValue, SubagentError, Services> {
  const { spec, agent_id: id } = meta
  const { children } = parent
  if (!isAgentId(id)) return yield* retired()
  const { profile, model } = yield* profileOf(parent, spec)
  const cwd = yield* WorkingDirectory.resolve(parent.options.root, spec.cwd)
  const env = yield* Effect.mapError(environment(spec, parent.host.env), (error) => invalid(error.message))
  const identity = {
    id,
    harness: profile.reference,
    vendor: inferVendor(profile),
    cwd,
    created: yield* Clock.currentTimeMillis,
    ...(spec.model === undefined ? {} : { model: spec.model }),
    ...(spec.definition === undefined ? {} : { agent: spec.name }),
  }
  const preferred = spec.definition === undefined ? undefined : spec.name
  const child = yield* Effect.fromResult(children.admit(identity, preferred, next.task))
  child.status = meta.status === "failed" ? "failed" : "interrupted"
  child.context = context
  const first = prompt === "" || profile.isKit ? next.blocks : [{ type: "text", text: prompt }, ...next.blocks]
  return yield* Effect.gen(function* () {
    const attachment = yield* Turn.unlessEnded(
      child,
      Start.start(parent, { child, profile, model, systemPrompt: prompt, env, secrets: spec.secret_env }),
    )
    return yield* Turn.run(parent, child, attachment, { ...next, blocks: first, generation: 1, first: true })
  }).pipe(
    Effect.onError((cause) => Turn.abandon(parent, child, cause)),
    Semaphore.withPermit(child.gate),
  )
})

/** Refuses an agent that is there to be looked at: a copy, or one that was imported. */
const record = ({ meta: { status_reason: why } }: LoadedAgent): SubagentError => {
  const refusal = retired()
  const { code, message } = refusal
  return why === undefined ? refusal : new SubagentError({ code, message: `${message}: it is ${why}`, retryable: false })
}

/**
 * Continues an agent of this session by its id, whatever its generation (K09): a live or restored one goes on, one that was launched and never
 * prompted begins. One that was in a turn when its parent ended, was closed, or failed is retired (decision 21).
 */
export const resume = Effect.fn("Subagents.resume")(function* (
  parent: Parent,
  { id, prompt, output_schema }: Request,
): Effect.fn.Return<HandleValue, SubagentError, Services> {
  const blocks = yield* Effect.fromResult(PromptContent.read(prompt, parent.limits.lineBytes))
  const output = yield* StructuredOutput.read(output_schema)
  const next = { blocks, task: Task.summary(blocks, parent.limits.taskCharacters), output }
  const child = parent.children.find(id)
  if (Result.isSuccess(child)) return yield* goOn(parent, child.success, next)
  if (child.failure.code !== "UNKNOWN_SUBAGENT") return yield* child.failure
  const loaded = yield* Effect.mapError(parent.options.session.subagents.load(id), () => child.failure)
  if (loaded.meta.status === "closed") return yield* record(loaded)
  return yield* begin(parent, loaded, next)
})
