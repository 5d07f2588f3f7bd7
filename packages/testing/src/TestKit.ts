import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { type Command, Processes, type SpawnFailed } from "@acp-kit/platform/Processes"
import { type Entry, ProcessTable } from "@acp-kit/platform/ProcessTable"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Mood } from "./Mood.ts"
import { type Ended, RunningKit } from "./RunningKit.ts"
import { type Agent, inFolder, type Launch } from "./ScriptedAgent.ts"

export interface RunOptions {
  /** Default: {@link TestKit.root}. */
  readonly cwd?: string
  /** Laid over the environment of the test. */
  readonly env?: Readonly<Record<string, string>>
  /** The whole input; it ends after it. Default: no input. */
  readonly input?: string
  /** What runs on after the end is for the test to judge; otherwise it fails the test. */
  readonly mayLeave?: boolean
}

/** A machine of its own for one test: an empty home, a workspace, the built `kit`, and no process left at the end. */
export interface TestKit {
  /** Holds everything; gone with the scope. Moods and recordings of agents stand here. */
  readonly folder: string
  /** `HOME`. */
  readonly userHome: string
  /** `KIT_HOME`; it does not exist before something is configured. */
  readonly kitHome: string
  /** The working directory. */
  readonly root: string
  readonly file: (...parts: ReadonlyArray<string>) => string
  /** Appends to `config.toml`. */
  readonly configure: (toml: string) => Effect.Effect<void>
  /** Configures a harness `acp.<name>` with this launch line; `toml` are further lines of its table. */
  readonly harness: (name: string, launch: Launch, toml?: string) => Effect.Effect<void>
  /** Configures a scripted agent as `acp.<name>`. */
  readonly agent: (name: string, mood?: Mood, toml?: string) => Effect.Effect<Agent>
  /** Starts `kit`. The end of the scope stops it. */
  readonly start: (args: ReadonlyArray<string>, options?: RunOptions) => Effect.Effect<RunningKit, SpawnFailed, Scope.Scope>
  /** Runs `kit` to its end. */
  readonly kit: (args: ReadonlyArray<string>, options?: RunOptions) => Effect.Effect<Ended, SpawnFailed>
  /** What this test has started, directly or not, and still runs. */
  readonly running: Effect.Effect<ReadonlyArray<Entry>>
}

/** The program under test: the committed entry, which runs the bundle. */
export const program: Launch = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../../../apps/kit/bin/kit.js", import.meta.url))],
}

const kept = ["PATH", "TMPDIR", "LANG"]

const folders = Effect.acquireRelease(
  Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "kit-test-")))),
  (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true })),
)

const names = (entries: ReadonlyArray<Entry>): string => entries.map((entry) => entry.pid).join(", ")

/** Makes the machine; `launch` is another program in place of the built `kit`. */
export const make = Effect.fnUntraced(function* (
  launch: Launch = program,
): Effect.fn.Return<TestKit, never, Scope.Scope | Processes.Service> {
  const folder = yield* folders
  const processes = yield* Processes.Service
  const file = (...parts: ReadonlyArray<string>) => Path.join(folder, ...parts)
  const [userHome, kitHome, root] = [file("home"), file("kit-home"), file("root")]
  for (const directory of [userHome, root]) Fs.mkdirSync(directory)
  const mark = Path.basename(folder)
  yield* Effect.addFinalizer(() => processes.reapMarked(mark))

  const base = Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))
  const command = (args: ReadonlyArray<string>, { cwd = root, env }: RunOptions): Command => ({
    command: launch.command,
    args: [...launch.args, ...args],
    cwd,
    env: { ...base, HOME: userHome, KIT_HOME: kitHome, KIT_CHILD_MARK: mark, ...env },
  })

  const configure = (toml: string) =>
    Effect.sync(() => {
      Fs.mkdirSync(kitHome, { recursive: true })
      Fs.appendFileSync(Path.join(kitHome, "config.toml"), `${toml}\n`)
    })
  const harness = (name: string, { command, args }: Launch, toml = "") =>
    configure(`[acp.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n${toml}`)

  const start = Effect.fnUntraced(function* (args: ReadonlyArray<string>, options: RunOptions = {}) {
    const running = yield* RunningKit.follow(yield* processes.spawn(command(args, options)))
    if (options.input !== undefined) yield* Effect.ignore(running.write(options.input))
    if (options.input !== undefined) yield* running.endInput
    return running
  })

  const kit = Effect.fnUntraced(function* (args: ReadonlyArray<string>, options: RunOptions = {}) {
    const ended = yield* Effect.flatMap(start(args, { input: "", ...options }), (running) => running.ended)
    if (ended.left.length > 0 && options.mayLeave !== true) {
      return yield* Effect.die(new Error(`kit ${args.join(" ")} left ${names(ended.left)} running\n${ended.err}`))
    }
    return ended
  }, Effect.scoped)

  return {
    folder,
    userHome,
    kitHome,
    root,
    file,
    configure,
    harness,
    agent: (name, mood, toml) =>
      Effect.suspend(() => {
        const agent = inFolder(folder, name, mood)
        return Effect.as(harness(name, agent, toml), agent)
      }),
    start,
    kit,
    running: ProcessTable.marked(mark),
  }
})

export * as TestKit from "./TestKit.ts"
