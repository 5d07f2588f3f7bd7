import { type ChildProcess, spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { type Leftover, leftovers } from "./Leftovers.ts"
import type { Mood } from "./Mood.ts"
import { type LaunchLine, ScriptedAgent } from "./ScriptedAgent.ts"

const mark = "KIT_TEST_MARK"

/** The `kit` that the build made. */
export const executable = Path.join(import.meta.dirname, "../../../apps/kit/bin/kit.js")

/** What a `kit` that has ended left behind. */
export interface Outcome {
  /** The exit code; `null` where a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A `kit` that runs. */
export class Running {
  readonly process: ChildProcess
  readonly ended: Promise<Outcome>
  #stdout = ""
  #stderr = ""
  readonly #watchers = new Set<() => void>()

  constructor(child: ChildProcess) {
    this.process = child
    child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#grow({ stdout: text }))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#grow({ stderr: text }))
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject)
      child.on("close", (code) => {
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr })
        for (const watcher of this.#watchers) watcher()
      })
    })
  }

  #grow(text: { readonly stdout?: string; readonly stderr?: string }): void {
    this.#stdout += text.stdout ?? ""
    this.#stderr += text.stderr ?? ""
    for (const watcher of this.#watchers) watcher()
  }

  /** Resolves when stderr holds the pattern; rejects where the process ends before. */
  stderrHas(pattern: RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.test(this.#stderr)
        const over = this.process.exitCode !== null || this.process.signalCode !== null
        if (!found && !over) return
        this.#watchers.delete(look)
        if (found) resolve()
        else reject(new Error(`kit ended without ${pattern} on stderr:\n${this.#stderr}`))
      }
      this.#watchers.add(look)
      look()
    })
  }

  /** Sends a signal to the process alone, as a terminal's Ctrl-C does not: children in groups of their own see nothing of either. */
  signal(name: NodeJS.Signals): void {
    this.process.kill(name)
  }
}

export interface RunOptions {
  /** What stdin holds; empty by default. */
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  /** Relative to the test's directory, which is the default. */
  readonly cwd?: string
}

/** One machine for one test: a home, a working directory, and the built `kit` run in them with real processes. */
export class TestKit {
  readonly folder: string
  readonly home: string
  /** The working directory of every `kit` of this test. */
  readonly dir: string
  readonly #id = crypto.randomUUID()
  readonly #running = new Set<Running>()
  #profiles = ""
  #settings = ""

  constructor() {
    this.folder = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "kit-test-")))
    this.home = Path.join(this.folder, "home")
    this.dir = Path.join(this.folder, "work")
    Fs.mkdirSync(this.home)
    Fs.mkdirSync(this.dir)
  }

  /** Top-level keys and tables of `config.toml`; stands before the profiles. */
  settings(toml: string): void {
    this.#settings = toml
    this.#writeConfig()
  }

  /** Adds `[acp.<name>]`. */
  profile(name: string, { command, args }: LaunchLine): void {
    this.#profiles += `\n[acp.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`
    this.#writeConfig()
  }

  /** Adds `[acp.<name>]` with a scripted agent of this mood. */
  agent(name: string, mood: Mood = {}): ScriptedAgent {
    const agent = new ScriptedAgent(this.folder, name, mood)
    this.profile(name, agent.launch)
    return agent
  }

  #writeConfig(): void {
    Fs.writeFileSync(Path.join(this.home, "config.toml"), `${this.#settings}\n${this.#profiles}`)
  }

  /** Writes a file below the working directory and returns its absolute path. */
  write(name: string, text: string): string {
    const file = Path.join(this.dir, name)
    Fs.mkdirSync(Path.dirname(file), { recursive: true })
    Fs.writeFileSync(file, text)
    return file
  }

  /** The environment of every `kit` of this test. */
  get env(): Record<string, string> {
    const { PATH = "", TMPDIR } = process.env
    return { PATH, HOME: this.folder, KIT_HOME: this.home, [mark]: this.#id, ...(TMPDIR === undefined ? {} : { TMPDIR }) }
  }

  start(args: ReadonlyArray<string>, options: RunOptions = {}): Running {
    const child = spawn(process.execPath, [executable, ...args], {
      cwd: Path.resolve(this.dir, options.cwd ?? "."),
      env: { ...this.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    })
    child.stdin.on("error", () => {})
    child.stdin.end(options.input ?? "")
    const running = new Running(child)
    this.#running.add(running)
    void running.ended.finally(() => this.#running.delete(running))
    return running
  }

  /** Runs `kit` to its end. */
  run(args: ReadonlyArray<string>, options?: RunOptions): Promise<Outcome> {
    return this.start(args, options).ended
  }

  /** Runs `kit compose -e PROGRAM`. */
  compose(program: string, ...args: ReadonlyArray<string>): Promise<Outcome> {
    return this.run(["compose", "-e", program, ...args])
  }

  /** The value of `kit compose -e PROGRAM`; throws where it did not succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: the value of a program can be anything
  async value(program: string, ...args: ReadonlyArray<string>): Promise<any> {
    const { code, stdout, stderr } = await this.compose(program, ...args)
    if (code !== 0) throw new Error(`kit compose left with ${code}:\n${stderr}`)
    return JSON.parse(stdout)
  }

  /** The `error` of a program that fails, with the exit code. */
  // biome-ignore lint/suspicious/noExplicitAny: details differ from code to code
  async failure(program: string, ...args: ReadonlyArray<string>): Promise<any> {
    const { code, stdout, stderr } = await this.compose(program, "--json", ...args)
    if (code === 0) throw new Error(`kit compose succeeded:\n${stdout}`)
    const { error } = JSON.parse(stdout)
    return { exit: code, ...error, stderr }
  }

  /** What still runs of all that this test has started, by whichever way it tried to get away. */
  get leftovers(): ReadonlyArray<Leftover> {
    return leftovers(mark, this.#id)
  }

  /** Ends what still runs, removes the folder, and throws where something had been left running by a `kit` that ended. */
  async dispose(): Promise<void> {
    for (const running of [...this.#running]) {
      running.signal("SIGKILL")
      await running.ended
    }
    const left = this.leftovers
    for (const { pid } of left) process.kill(pid, "SIGKILL")
    Fs.rmSync(this.folder, { recursive: true, force: true })
    if (left.length > 0) throw new Error(`left running: ${left.map(({ pid, command }) => `${pid} ${command}`).join("; ")}`)
  }
}
