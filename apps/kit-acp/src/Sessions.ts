import { AgentSessions, type OpenOptions, type Interface as Sessions } from "@acp-kit/agent/AgentSessions"
import { SetupRefused } from "@acp-kit/agent/Directories"
import { KitAgent } from "@acp-kit/agent/KitAgent"
import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { Processes } from "@acp-kit/platform/Processes"
import { TextFile } from "@acp-kit/platform/TextFile"
import { Health } from "@acp-kit/store/Health"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Arguments } from "./Arguments.ts"

/**
 * The sessions of this process, alive as long as the scope. Everything that only a session needs is loaded from here. `tell` takes what concerns whoever
 * runs the process, whichever of its clients is there to hear it.
 */
export const make = (
  given: Arguments,
  host: Host.Interface,
  scope: Scope.Scope,
  tell: (line: string) => Effect.Effect<void>,
): Effect.Effect<Sessions, SetupRefused> => {
  const machine = Layer.mergeAll(
    Host.layerWith(host),
    Processes.layer,
    Files.layer,
    JsonSchemas.layer,
    given.ephemeral ? SessionStore.layerMemory : SessionStore.layerWith({ home: host.kitHome }),
  )
  const sessions = Layer.unwrap(Effect.map(options(given, host), KitAgent.layerWith))
  const trouble = Layer.effectDiscard(
    Effect.flatMap(SessionStore.Service, ({ health }) =>
      Effect.forkScoped(Stream.runForEach(Health.news(health), ({ text }) => tell(text))),
    ),
  )
  const all = Layer.provide(Layer.merge(sessions, trouble), machine)
  return Effect.gen(function* () {
    const paths = yield* Path.Path
    const sessions = Context.get(yield* Layer.buildWithScope(all, scope), AgentSessions.Service)
    return beside(
      sessions,
      given.addDirs.map((directory) => paths.resolve(host.cwd, directory)),
    )
  }).pipe(Effect.provide(Files.layer))
}

/** The sessions, each with further directories beside those that the client names. */
const beside = (sessions: Sessions, added: ReadonlyArray<string>): Sessions => {
  const widened = <O extends OpenOptions>(options: O): O => ({
    ...options,
    additionalDirectories: [...(options.additionalDirectories ?? []), ...added],
  })
  return {
    ...sessions,
    create: (options) => sessions.create(widened(options)),
    load: (id, options) => sessions.load(id, widened(options)),
    fork: (id, options) => sessions.fork(id, widened(options)),
  }
}

const options = Effect.fnUntraced(function* (
  given: Arguments,
  host: Host.Interface,
): Effect.fn.Return<KitAgent.Options, SetupRefused, FileSystem.FileSystem | Path.Path> {
  const paths = yield* Path.Path
  const { depth, provider, model, effort, sessionId, resume, ephemeral, systemPromptFile } = given
  const absolute = (path: string) => paths.resolve(host.cwd, path)
  const systemPrompt =
    systemPromptFile === undefined
      ? undefined
      : yield* Effect.mapError(
          TextFile.read(absolute(systemPromptFile)),
          ({ message }) => new SetupRefused({ message: `the system prompt: ${message}` }),
        )
  return {
    depth,
    resume,
    ephemeral,
    ...present({ provider, model, effort, sessionId, systemPrompt }),
    ...present({
      root: given.root === undefined ? undefined : absolute(given.root),
      config: given.config === undefined ? undefined : absolute(given.config),
      mcpConfig: given.mcpConfig === undefined ? undefined : absolute(given.mcpConfig),
    }),
  }
})

type Present<A> = { [K in keyof A]?: Exclude<A[K], undefined> }

const present = <A extends object>(record: A): Present<A> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Present<A>
