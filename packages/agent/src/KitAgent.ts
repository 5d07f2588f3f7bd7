import type { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import { Catalog } from "@acp-kit/orchestrator/Catalog"
import { Config } from "@acp-kit/orchestrator/Config"
import { Harness, type Harnesses } from "@acp-kit/orchestrator/Harness"
import type { Inheritance } from "@acp-kit/orchestrator/Inheritance"
import { Limits } from "@acp-kit/orchestrator/Limits"
import { Subagents } from "@acp-kit/orchestrator/Subagents"
import { Host } from "@acp-kit/platform/Host"
import type { Processes } from "@acp-kit/platform/Processes"
import * as Layout from "@acp-kit/store/Layout"
import type { SessionStore } from "@acp-kit/store/SessionStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import { AgentSessions } from "./AgentSessions.ts"
import { SessionArtifacts } from "./Artifacts.ts"
import { ChildCards } from "./ChildCards.ts"
import { CloseCall } from "./CloseCall.ts"
import { ComposeGuide } from "./ComposeGuide.ts"
import { ComposeTool } from "./ComposeTool.ts"
import { SetupRefused } from "./Directories.ts"
import { LocalTools } from "./LocalTools.ts"
import type { Effort, Interface as Provider } from "./ModelProvider.ts"
import { Providers } from "./Providers.ts"
import { SessionOptions } from "./SessionOptions.ts"
import type { SessionContext } from "./SessionParts.ts"
import { TurnLoop } from "./TurnLoop.ts"

/** What the whole process is about. Absent is what the configuration says, else the default. */
export interface Options {
  /** 0 for a process that a person or an editor started, one more for each nesting (S160). */
  readonly depth: number
  /** The one working directory that sessions may have, absolute; any where absent. */
  readonly root?: string
  readonly provider?: string
  readonly model?: string
  readonly effort?: Effort
  /** The id of the first session. */
  readonly sessionId?: string
  /** The first session exists already. */
  readonly resume?: boolean
  /** The configuration file, absolute; without it `config.toml` of Kit's home, which need not exist. */
  readonly config?: string
  /** Absolute path. */
  readonly mcpConfig?: string
  /** Precedes each conversation. */
  readonly systemPrompt?: string
  /** Nothing is to be kept: its store is one in memory, and so are those of the agents below it. Artifacts live as long as their session. */
  readonly ephemeral?: boolean
}

export type Services =
  | Host.Service
  | Processes.Service
  | SessionStore.Service
  | JsonSchemas.Service
  | FileSystem.FileSystem
  | Path.Path

/** The sessions of the Kit agent: a model with `compose`, whose programs have children, `shell` and `edit`. */
export const layerWith = (options: Options): Layer.Layer<AgentSessions.Service, SetupRefused, Services> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const host = yield* Host.Service
      // Without the scope of the layer: what a session has is made in the session's own.
      const services = Context.omit(Scope.Scope)(yield* Effect.context<Services>())
      const paths = yield* Path.Path
      const path = options.config ?? paths.join(host.kitHome, "config.toml")
      const config = yield* Config.load(path, { required: options.config !== undefined })
      const beside = (file: string) => paths.resolve(paths.dirname(path), file)
      const provider = yield* Providers.make({
        provider: options.provider ?? config.provider,
        script: config.script === undefined ? undefined : beside(config.script),
      })
      const selection = yield* initialSelection(provider, options, config)
      const inherited: Inheritance = {
        provider: provider.name,
        ...(selection.effort === "default" ? {} : { reasoningEffort: selection.effort }),
        ...(options.config === undefined ? {} : { config: options.config }),
        ...(options.mcpConfig === undefined ? {} : { mcpConfig: options.mcpConfig }),
        ...(options.ephemeral === undefined ? {} : { ephemeral: options.ephemeral }),
      }
      const harnesses = Harness.fromTables(config, host.self)
      const tools = (context: SessionContext) =>
        Effect.provideContext(sessionTools(context, { depth: options.depth, harnesses, inherited }), services)
      return AgentSessions.layerWith({
        provider,
        selection,
        system: options.systemPrompt ?? "",
        limits: TurnLoop.defaultLimits,
        origin: options.depth === 0 ? "top_level" : "subagent",
        structured: options.depth > 0,
        root: options.root,
        first: options.sessionId === undefined ? undefined : { id: options.sessionId, resume: options.resume ?? false },
        tools,
      }).pipe(Layer.provide(Limits.layerWith(config.limits)))
    }).pipe(Effect.mapError((error) => new SetupRefused({ message: error.message }))),
  )

const initialSelection = Effect.fnUntraced(function* (provider: Provider, options: Options, config: Config.Settings) {
  const start = { model: provider.models[0].id, effort: "default" } as const
  const model = options.model ?? config.model
  const chosen = model === undefined ? start : yield* SessionOptions.set(provider, start, "model", model)
  return yield* SessionOptions.set(provider, chosen, "reasoning_effort", options.effort ?? config.reasoningEffort ?? "default")
})

interface Nesting {
  readonly depth: number
  readonly harnesses: Harnesses
  /** What children take over, but for the model, which is the session's own. */
  readonly inherited: Inheritance
}

/** The tools of one session, its children among them. The scope holds all of it. */
const sessionTools = Effect.fnUntraced(
  function* (context: SessionContext, { depth, harnesses, inherited }: Nesting) {
    const { writer, cwd, additionalDirectories, selection, background, view } = context
    const limits = yield* Limits.Service
    const { env, kitHome } = yield* Host.Service
    const subagents = yield* Subagents.make({
      session: writer,
      depth,
      root: cwd,
      additionalDirectories,
      harnesses,
      inherited: Effect.map(Ref.get(selection), ({ model }) => ({ ...inherited, model })),
    })
    const files = yield* FileSystem.FileSystem
    const directory =
      inherited.ephemeral === true
        ? yield* files.makeTempDirectoryScoped({ prefix: "kit-artifacts-" })
        : `${Layout.sessionPath(kitHome, writer.id)}/${Layout.artifactsName}`
    const artifacts = yield* SessionArtifacts.make(directory)
    const local = [...(yield* LocalTools.make({ root: cwd, env })), artifacts.tool]
    const verbs = (call: string) =>
      ChildCards.tools(subagents, call, view).map((tool) => (tool.name === "close" ? CloseCall.wrap(tool, background) : tool))
    const catalog = [...Catalog.entries({ harnesses, depth, limits }), ...local.map(ComposeGuide.entryOf)]
    return [ComposeTool.make({ tools: (call) => [...verbs(call), ...local], catalog, background, spill: artifacts.spill })]
  },
  Effect.mapError((error) => new SetupRefused({ message: error.message })),
)

export * as KitAgent from "./KitAgent.ts"
