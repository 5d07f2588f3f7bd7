import { spawn } from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Writable } from "node:stream"
import { text } from "node:stream/consumers"
import { Processes } from "@acp-kit/platform/Processes"
import type { Entry } from "@acp-kit/platform/ProcessTable"
import { Appears } from "@acp-kit/testing/Appears"
import type { Mood } from "@acp-kit/testing/Mood"
import type { Ended, RunningKit } from "@acp-kit/testing/RunningKit"
import type { Agent, Launch } from "@acp-kit/testing/ScriptedAgent"
import { type RunOptions, TestKit } from "@acp-kit/testing/TestKit"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/** The failure of a program, as `--json` printed it, with the exit code and stderr. Details differ from code to code. */
export interface Failure {
  readonly exit: number
  readonly code: string
  readonly message: string
  readonly err: string
  readonly [field: string]: unknown
}

/** A script that runs. */
export interface Shell {
  readonly input: Writable
  /** Waits for its end, and for the end of what it printed. */
  readonly ended: Promise<{ readonly code: number; readonly out: string; readonly err: string }>
}

/** A machine of its own for one test, in promises: a home, a working directory, and the built `kit` run in them. */
export class Machine {
  readonly #kit: TestKit.TestKit
  readonly #scope: Scope.Closeable

  private constructor(kit: TestKit.TestKit, scope: Scope.Closeable) {
    this.#kit = kit
    this.#scope = scope
  }

  static async make(): Promise<Machine> {
    const scope = Scope.makeUnsafe()
    const made = Effect.flatMap(Layer.build(Processes.layer), (services) => Effect.provideContext(TestKit.make(), services))
    return new Machine(await Effect.runPromise(Scope.provide(made, scope)), scope)
  }

  /** Ends all that this test started and removes its files. */
  dispose(): Promise<void> {
    return Effect.runPromise(Scope.close(this.#scope, Exit.void))
  }

  get dir(): string {
    return this.#kit.root
  }

  get folder(): string {
    return this.#kit.folder
  }

  get kitHome(): string {
    return this.#kit.kitHome
  }

  get configFile(): string {
    return Path.join(this.#kit.kitHome, "config.toml")
  }

  /** Appends to `config.toml`. */
  configure(toml: string): Promise<void> {
    return Effect.runPromise(this.#kit.configure(toml))
  }

  /** Writes `config.toml` anew. */
  writeConfig(toml: string): void {
    Fs.mkdirSync(this.kitHome, { recursive: true })
    Fs.writeFileSync(this.configFile, toml)
  }

  /** Configures a scripted agent as `acp.<name>`. */
  agent(name: string, mood?: Mood, toml?: string): Promise<Agent> {
    return Effect.runPromise(this.#kit.agent(name, mood, toml))
  }

  harness(name: string, launch: Launch): Promise<void> {
    return Effect.runPromise(this.#kit.harness(name, launch))
  }

  /** Writes a file below the working directory and returns its absolute path. */
  write(name: string, text: string): string {
    const file = Path.join(this.dir, name)
    Fs.mkdirSync(Path.dirname(file), { recursive: true })
    Fs.writeFileSync(file, text)
    return file
  }

  start(args: ReadonlyArray<string>, options: RunOptions = {}): Promise<RunningKit.RunningKit> {
    return Effect.runPromise(Scope.provide(this.#kit.start(args, { input: "", ...options }), this.#scope))
  }

  /** Runs `kit` to its end; fails where it leaves a process behind. */
  run(args: ReadonlyArray<string>, options?: RunOptions): Promise<Ended> {
    return Effect.runPromise(this.#kit.kit(args, options))
  }

  /** Starts a script of the shell in which `kit` is a command. Its input stays open. */
  shell(script: string): Shell {
    const { command, args } = TestKit.program
    const program = [command, ...args].map((word) => `'${word}'`).join(" ")
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: this.#kit.userHome,
      KIT_HOME: this.kitHome,
      KIT_CHILD_MARK: Path.basename(this.folder),
    }
    const started = spawn("sh", ["-c", `kit() { ${program} "$@"; }\n${script}`], { cwd: this.dir, env })
    const ended = Promise.all([text(started.stdout), text(started.stderr), once(started, "close")])
    return { input: started.stdin, ended: ended.then(([out, err, [code]]) => ({ code, out, err })) }
  }

  /** Waits for the end of a `kit` that was started. */
  ended(running: RunningKit.RunningKit): Promise<Ended> {
    return Effect.runPromise(running.ended)
  }

  /** Waits until a file exists; rejects where the `kit` that should make it ends before. */
  appears(file: string, running: RunningKit.RunningKit): Promise<void> {
    const ended = Effect.flatMap(running.ended, ({ err }) => Effect.die(new Error(`kit ended before ${file} was there:\n${err}`)))
    return Effect.runPromise(Effect.raceFirst(Appears.appears(file), ended))
  }

  /** Creates an empty file: opens a gate. */
  touch(file: string): Promise<void> {
    return Effect.runPromise(Appears.touch(file))
  }

  /** Runs `kit compose -e PROGRAM`. */
  compose(program: string, ...args: ReadonlyArray<string>): Promise<Ended> {
    return this.run(["compose", "-e", program, ...args])
  }

  /** The value of `kit compose -e PROGRAM`; throws where it did not succeed. */
  async value(program: string, ...args: ReadonlyArray<string>): Promise<any> {
    const { code, out, err } = await this.compose(program, ...args)
    if (code !== 0) throw new Error(`kit compose left with ${code}:\n${err}`)
    return JSON.parse(out)
  }

  /** The failure of `kit compose -e PROGRAM`; throws where it succeeded. */
  async failure(program: string, ...args: ReadonlyArray<string>): Promise<Failure> {
    const { code, out, err } = await this.compose(program, "--json", ...args)
    if (code === 0 || code === undefined) throw new Error(`kit compose left with ${code}:\n${out}`)
    return { exit: code, ...JSON.parse(out).error, err }
  }

  /** The texts of the prompts that an agent was sent, block by block. */
  prompts(agent: Agent): ReadonlyArray<ReadonlyArray<unknown>> {
    return agent.recording.params("session/prompt").map(({ prompt }) => {
      const blocks = prompt as ReadonlyArray<{ readonly text?: unknown }>
      return blocks.map((block) => block.text)
    })
  }

  /** Waits until an agent notes that something happened to it. */
  async recorded(agent: Agent, event: string): Promise<void> {
    await Effect.runPromise(agent.recording.until(({ events }) => events.find((noted) => noted.event === event)))
  }

  /** What this test has started, directly or not, and still runs. */
  running(): Promise<ReadonlyArray<Entry>> {
    return Effect.runPromise(this.#kit.running)
  }
}
