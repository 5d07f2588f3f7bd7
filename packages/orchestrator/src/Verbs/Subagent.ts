import type { Json } from "@acp-kit/runlet/Host"
import { make as makeId } from "@acp-kit/store/AgentId"
import { make as makeSpec } from "@acp-kit/store/AgentLaunchSpec"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { Arguments } from "../Arguments.ts"
import type { Child, HandleValue } from "../Child.ts"
import { type Definition, Definitions } from "../Definition.ts"
import { Harness } from "../Harness.ts"
import { ModelPolicy } from "../ModelPolicy.ts"
import type { Parent, Services } from "../Parent.ts"
import { PromptContent } from "../PromptContent.ts"
import { Start } from "../Start.ts"
import { type OutputSchema, StructuredOutput } from "../StructuredOutput.ts"
import { SubagentError } from "../SubagentError.ts"
import { Task } from "../Task.ts"
import { Turn } from "../Turn.ts"
import { inferVendor } from "../Vendor.ts"
import { WorkingDirectory } from "../WorkingDirectory.ts"

const keys = ["prompt", "name", "agent", "harness", "model", "cwd", "output_schema"]

/** The refusal at the deepest level (S160). */
export const tooDeep = (depth: number): SubagentError =>
  new SubagentError({ code: "DEPTH_LIMIT", message: `subagent depth limit (${depth}) reached`, retryable: false })

/** A call that can be carried out: every argument read, the definition's defaults under it. */
interface Call {
  readonly blocks: ReadonlyArray<Json>
  readonly task: string
  readonly name: string | undefined
  readonly profile: Harness.Profile
  /** As asked for, alias or id; and resolved. */
  readonly asked: string | undefined
  readonly model: string | undefined
  readonly cwd: string
  readonly output: OutputSchema | undefined
  readonly definition: Definition | undefined
  /** A failure of the start: where the harness refuses a model that the definition named, told as that. */
  readonly startFailure: (error: SubagentError) => SubagentError
}

const read = Effect.fnUntraced(function* (parent: Parent, input: Json): Effect.fn.Return<Call, SubagentError, Services> {
  const { options, limits } = parent
  const given = yield* Effect.fromResult(Arguments.read("subagent", input, keys))
  const blocks = yield* Effect.fromResult(PromptContent.read(given.prompt, limits.lineBytes))
  const agent = yield* Effect.fromResult(Arguments.text(given, "agent"))
  const asked = yield* Effect.fromResult(Arguments.text(given, "model"))
  const cwd = yield* Effect.fromResult(Arguments.text(given, "cwd"))
  const definition = agent === undefined ? undefined : yield* Definitions.load(agent, options.root)
  const asDefined = <A, R>(key: string, overridden: boolean, value: Effect.Effect<A, SubagentError, R>) =>
    definition?.lines.has(key) === true && !overridden
      ? Effect.mapError(value, (error) => Definitions.blame(definition, key, error))
      : value
  const output = yield* asDefined(
    "output_schema",
    given.output_schema !== undefined,
    StructuredOutput.read(given.output_schema === undefined ? definition?.outputSchema : given.output_schema),
  )
  const harness = given.harness === undefined ? definition?.harness : given.harness
  const profile = yield* asDefined(
    "harness",
    given.harness !== undefined,
    Effect.fromResult(Harness.resolve(options.harnesses, harness)),
  )
  const wanted = asked ?? definition?.model
  const model =
    wanted === undefined
      ? undefined
      : yield* asDefined(
          "model",
          asked !== undefined,
          Effect.fromResult(ModelPolicy.resolve(profile.policy, profile.reference, wanted)),
        )
  return {
    blocks,
    task: Task.summary(blocks, limits.taskCharacters),
    name: given.name === undefined ? definition?.name : Arguments.name(given),
    profile,
    asked: wanted,
    model,
    cwd: yield* asDefined("cwd", cwd !== undefined, WorkingDirectory.resolve(options.root, cwd ?? definition?.cwd)),
    output,
    definition,
    startFailure: (error) =>
      error.code === "MODEL_REJECTED" && asked === undefined && definition !== undefined
        ? Definitions.blame(definition, "model", error)
        : error,
  }
})

const specOf = ({ definition, profile, asked, cwd }: Call) =>
  makeSpec({
    name: definition?.name ?? "subagent",
    harness: profile.reference,
    cwd,
    ...(asked === undefined ? {} : { model: asked }),
    ...(definition === undefined
      ? {}
      : {
          definition: { path: definition.path, sha256: definition.sha256 },
          env: definition.env,
          secrets: definition.secrets,
          ...(definition.description === undefined ? {} : { description: definition.description }),
          ...(definition.outputSchema === undefined ? {} : { output_schema: definition.outputSchema }),
        }),
  })

const admit = Effect.fnUntraced(function* (parent: Parent, call: Call): Effect.fn.Return<Child, SubagentError> {
  const { profile, definition } = call
  const identity = {
    id: yield* makeId,
    harness: profile.reference,
    vendor: inferVendor(profile),
    cwd: call.cwd,
    created: yield* Clock.currentTimeMillis,
    ...(call.asked === undefined ? {} : { model: call.asked }),
    ...(definition === undefined ? {} : { agent: definition.name }),
  }
  return yield* Effect.fromResult(parent.children.admit(identity, call.name, call.task))
})

const create = Effect.fnUntraced(function* (
  parent: Parent,
  call: Call,
  child: Child,
): Effect.fn.Return<HandleValue, SubagentError, Services> {
  const { checkpoints } = parent
  const { profile, model, definition, blocks } = call
  const systemPrompt = definition?.body ?? ""
  const first = systemPrompt === "" || profile.isKit ? blocks : [{ type: "text", text: systemPrompt }, ...blocks]
  yield* checkpoints.create(child, specOf(call), systemPrompt)
  const starting = Start.start(parent, {
    child,
    profile,
    model,
    systemPrompt,
    env: definition?.env ?? {},
    secrets: definition?.secrets ?? [],
  })
  const attachment = yield* Turn.unlessEnded(child, Effect.mapError(starting, call.startFailure))
  return yield* Turn.run(parent, child, attachment, {
    blocks: first,
    task: call.task,
    output: call.output,
    generation: 1,
    first: true,
  })
})

/**
 * `subagent({prompt, name?, agent?, harness?, model?, cwd?, output_schema?})` (S10): starts a child, gives it its first turn and returns its value.
 * What the arguments rule out is found before anything starts; a start or first turn that fails leaves no process, name or place (S156).
 * Calls get their names and places in the order in which they were made, whatever the disk takes to read what they name (S41, S43).
 */
export const subagent = Effect.fn("Subagents.subagent")(function* (
  parent: Parent,
  input: Json,
): Effect.fn.Return<HandleValue, SubagentError, Services> {
  let admitted: Child | undefined
  const admission = Effect.gen(function* () {
    const call = yield* read(parent, input)
    if (parent.options.depth >= parent.limits.depth) return yield* tooDeep(parent.limits.depth)
    const child = yield* admit(parent, call)
    admitted = child
    return { call, child }
  })
  return yield* Semaphore.withPermit(parent.arrivals, admission).pipe(
    Effect.flatMap(({ call, child }) => Semaphore.withPermit(child.gate, create(parent, call, child))),
    Effect.onError((cause) => (admitted === undefined ? Effect.void : Turn.abandon(parent, admitted, cause))),
  )
})
