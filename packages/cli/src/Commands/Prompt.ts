import { AgentSessions } from "@acp-kit/agent/AgentSessions"
import type { SetupRefused } from "@acp-kit/agent/Directories"
import type { StopReason } from "@acp-kit/agent/Item"
import { KitAgent } from "@acp-kit/agent/KitAgent"
import { efforts } from "@acp-kit/agent/ModelProvider"
import { Host } from "@acp-kit/platform/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { type AnswerView, AnswerViews } from "../AnswerView.ts"
import { command } from "../Command.ts"
import { failed } from "../CommandFailed.ts"
import { ConfigFile } from "../ConfigFile.ts"
import { Directories } from "../Directories.ts"
import { Flag } from "../Flag.ts"
import { Footer } from "../Footer.ts"
import { Program } from "../Program.ts"
import { ProgressView } from "../ProgressView.ts"
import { Store } from "../Store.ts"
import { Terminal } from "../Terminal.ts"

interface Asked {
  readonly words: string
  readonly session: string | undefined
  readonly root: string | undefined
  readonly addDirs: ReadonlyArray<string>
}

const refused = ({ message }: SetupRefused) => failed(1, "SETUP", message)

const unknown = (id: string) =>
  failed(2, "NOT_FOUND", `session "${id}" does not exist; list what is there with: kit sessions list`)

/** Where the session works: `--root`, else its own directory, else the current one; with its own additional directories and those given. */
const directoriesOf = Effect.fnUntraced(function* ({ session, root, addDirs }: Asked) {
  const host = yield* Host.Service
  const added = yield* Effect.forEach(addDirs, Directories.resolve)
  if (session === undefined) return { cwd: yield* Directories.resolve(root ?? host.cwd), additionalDirectories: added }
  const store = yield* SessionStore.Service
  const info = yield* Store.tried(Effect.flatMap(store.openReader(session), (reader) => reader.info))
  return {
    cwd: yield* Directories.resolve(root ?? info.cwd),
    additionalDirectories: [...new Set([...info.additional_directories, ...added])],
  }
})

const openSession = Effect.fnUntraced(function* (asked: Asked, view: AnswerView["view"]) {
  const sessions = yield* AgentSessions.Service
  const options = { ...(yield* directoriesOf(asked)), view: (_id: string, event: Parameters<typeof view>[0]) => view(event) }
  const opening = asked.session === undefined ? sessions.create(options) : sessions.load(asked.session, options)
  return yield* opening.pipe(
    Effect.catchTags({
      SetupRefused: (error) => Effect.fail(refused(error)),
      UnknownSession: ({ id }) => Effect.fail(unknown(id)),
      SessionBusy: (error) => Effect.fail(failed(1, "BUSY", error.message)),
    }),
  )
})

const turn = Effect.fnUntraced(function* (asked: Asked) {
  const footer = yield* Footer.Service
  const answer = yield* AnswerViews.make
  const session = yield* openSession(asked, answer.view)
  yield* footer.set(`session: ${session.id}`)
  const accepted = yield* Effect.mapError(session.begin([{ type: "text", text: asked.words }], Effect.void), (error) =>
    failed(1, "BUSY", error.message),
  )
  const result = Effect.onInterrupt(accepted.result, () => session.cancel)
  return yield* Effect.mapError(result, ({ message }) => failed(1, "TURN_FAILED", message)).pipe(Effect.ensuring(answer.end))
})

const well: ReadonlyArray<StopReason> = ["end_turn", "max_tokens"]

/** `kit prompt`: one turn of the Kit agent. */
export const prompt = command({
  name: "prompt",
  summary: "ask the Kit agent, which writes and runs programs of its own",
  details: [
    "The answer goes to stdout as it comes, what the agent does to stderr, whose last line names the session; --session goes on with it.",
    "What the agent starts in the background is waited for.",
  ],
  parameters: { TEXT: Flag.required("what it is asked; - reads it from standard input") },
  flags: {
    ...Directories.flags,
    session: Flag.text({ placeholder: "ID", summary: "go on with this session", fallback: "a new one" }),
    model: Flag.text({ placeholder: "ID", summary: "the model that is asked", fallback: "the configuration's" }),
    provider: Flag.text({ placeholder: "NAME", summary: "the provider of models", fallback: "the configuration's" }),
    "reasoning-effort": Flag.choice({ summary: "how hard the model thinks", fallback: "the configuration's" }, efforts),
    "mcp-config": Flag.text({ placeholder: "FILE", summary: "MCP servers", fallback: "the configuration's" }),
  },
  examples: [
    { line: `prompt "What does this repository do?"`, does: "one question, in a session of its own" },
    { line: `prompt --session ID "And its tests?"`, does: "goes on where that ended" },
  ],
  run: ({ parameters, flags, config }) =>
    Effect.gen(function* () {
      const words = yield* Program.textOf(parameters.TEXT)
      const settings = yield* ConfigFile.load(config)
      const host = yield* Host.Service
      const path = yield* Path.Path
      const terminal = yield* Terminal.Service
      const { model, provider, "reasoning-effort": effort, "mcp-config": mcpConfig } = flags
      if ((provider ?? settings.provider ?? "scripted") === "scripted") {
        yield* terminal.err("kit: the scripted model answers: no model, no network\n")
      }
      const agent = KitAgent.layerWith({
        depth: 0,
        structured: true,
        watch: ({ events }) =>
          Effect.asVoid(Effect.forkScoped(Effect.provideService(ProgressView.follow(events), Terminal.Service, terminal))),
        ...(model === undefined ? {} : { model }),
        ...(provider === undefined ? {} : { provider }),
        ...(effort === undefined ? {} : { effort }),
        ...(config === undefined ? {} : { config: path.resolve(host.cwd, config) }),
        ...(mcpConfig === undefined ? {} : { mcpConfig: path.resolve(host.cwd, mcpConfig) }),
      })
      const asked = { words, session: flags.session, root: flags.root, addDirs: flags["add-dir"] }
      const reason = yield* Effect.provide(turn(asked), Layer.provideMerge(agent, Store.layer)).pipe(
        Effect.catchTag("SetupRefused", (error) => Effect.fail(refused(error))),
      )
      if (well.includes(reason)) return 0 as const
      return yield* failed(
        1,
        reason === "refusal" ? "REFUSED" : reason === "max_turn_requests" ? "TURN_LIMIT" : "CANCELLED",
        `the turn ended: ${reason}`,
      )
    }),
})
