import { AgentSessions } from "@acp-kit/agent/AgentSessions"
import { KitAgent } from "@acp-kit/agent/KitAgent"
import type { Effort } from "@acp-kit/agent/ModelProvider"
import type { Settings } from "@acp-kit/orchestrator/Config"
import { Host } from "@acp-kit/platform/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import { Cancelling } from "./Cancelling.ts"
import { type CommandFailed, failed } from "./CommandFailed.ts"
import { Directories } from "./Directories.ts"
import { Footer } from "./Footer.ts"
import { inherited } from "./Inherited.ts"
import { type Ended, PromptView } from "./PromptView.ts"
import { Store } from "./Store.ts"
import { Terminal } from "./Terminal.ts"

/** What the call says. */
export interface Asked {
  readonly prompt: string
  readonly settings: Settings
  /** The file that `--config` names, as typed. */
  readonly config: string | undefined
  /** An existing session to go on with. */
  readonly session: string | undefined
  readonly root: string | undefined
  readonly addDirs: ReadonlyArray<string>
  readonly model: string | undefined
  readonly provider: string | undefined
  readonly effort: Effort | undefined
  /** Prints no answer while it streams. */
  readonly quiet: boolean
}

/** How a turn ended, and in which session. */
export interface Answered extends Ended {
  readonly session: string
}

const wrongCall = ({ message }: { readonly message: string }) => failed(2, "SETUP", message)
const refused = ({ message }: { readonly message: string }) => failed(1, "SETUP", message)

/** The model failed, refused, or came to no end: exit 1. A cut answer is an answer. */
const judged = (answered: Answered): Effect.Effect<Answered, CommandFailed> => {
  const { reason, message } = answered.stop
  const session = { session: answered.session }
  switch (reason) {
    case "error":
      return Effect.fail(failed(1, "TURN_FAILED", message ?? "the turn failed", session))
    case "refusal":
      return Effect.fail(failed(1, "REFUSED", "the model refused the prompt", session))
    case "max_turn_requests":
      return Effect.fail(failed(1, "TURN_LIMIT", "the turn reached its limit of model requests", session))
    case "cancelled":
      return Effect.fail(failed(1, "CANCELLED", "the turn was cancelled", session))
    default:
      return Effect.succeed(answered)
  }
}

/** Where the session works: what the call names, else its own directories, else the current one. */
const directories = Effect.fnUntraced(function* ({ session, root, addDirs }: Asked) {
  const host = yield* Host.Service
  const added = yield* Effect.forEach(addDirs, Directories.additional)
  if (session === undefined) return { cwd: yield* Directories.working(root ?? host.cwd), additionalDirectories: added }
  const store = yield* SessionStore.Service
  const info = yield* Store.tried(Effect.flatMap(store.openReader(session), (reader) => reader.info))
  const cwd = yield* Directories.working(root ?? info.cwd)
  return { cwd, additionalDirectories: [...new Set([...info.additional_directories, ...added])] }
})

const turn = Effect.fnUntraced(function* (asked: Asked) {
  const { session: id, prompt, model, effort } = asked
  const sessions = yield* AgentSessions.Service
  const footer = yield* Footer.Service
  const terminal = yield* Terminal.Service
  const view = yield* PromptView.make(asked.quiet)
  const options = {
    ...(yield* directories(asked)),
    view: (_: string, event: Parameters<typeof view.show>[0]) => view.show(event),
  }
  const session = yield* Effect.mapError(id === undefined ? sessions.create(options) : sessions.load(id, options), refused)
  yield* footer.set(`session: ${session.id}`)
  if (model !== undefined) yield* Effect.mapError(session.setOption("model", model), wrongCall)
  if (effort !== undefined) yield* Effect.mapError(session.setOption("reasoning_effort", effort), wrongCall)
  if ((asked.provider ?? asked.settings.provider ?? "scripted") === "scripted") {
    yield* terminal.err("kit: the scripted model answers: it runs the runlet blocks of a prompt, and echoes one without\n")
  }
  const begun = Effect.mapError(session.begin([{ type: "text", text: prompt }], Effect.void), refused)
  const ended = yield* Cancelling.told(view.note(Cancelling.line))(Effect.andThen(begun, view.ended))
  return yield* judged({ ...ended, session: session.id })
})

/** One turn of the Kit agent, in a new session or one that exists; its children have ended when it does. */
export const run = Effect.fnUntraced(function* (asked: Asked) {
  const { settings, config, model, provider, effort } = asked
  const inheritance = yield* inherited(settings, config)
  const agent = KitAgent.layerWith({
    depth: 0,
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(effort === undefined ? {} : { effort }),
    ...(inheritance.config === undefined ? {} : { config: inheritance.config }),
    ...(inheritance.mcpConfig === undefined ? {} : { mcpConfig: inheritance.mcpConfig }),
  })
  return yield* Effect.provide(turn(asked), agent).pipe(Effect.catchTag("SetupRefused", (error) => Effect.fail(wrongCall(error))))
}, Store.use)

export * as PromptTurn from "./PromptTurn.ts"
