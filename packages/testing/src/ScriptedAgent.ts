import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Mood } from "./Mood.ts"

/** The launch line of a scripted agent. */
export interface LaunchLine {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** One line of a recording: a frame that the agent read or wrote, or something that happened to it. */
export interface Entry {
  readonly pid: number
  readonly dir: "in" | "out" | "event"
  /** The frame, as it was on the wire. */
  readonly line?: string
  readonly event?: string
  readonly detail?: unknown
}

/** A JSON-RPC message of a recording. */
export interface Message {
  readonly method?: string
  readonly id?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every kind
  readonly params?: any
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every kind
  readonly result?: any
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every kind
  readonly error?: any
}

const executable = Path.join(import.meta.dirname, "scripted-agent.ts")

/** A scripted agent of one name, in files of a folder: how it behaves, what it recorded, what it remembers. All its processes share them. */
export class ScriptedAgent {
  readonly launch: LaunchLine
  readonly #record: string

  constructor(folder: string, name: string, mood: Mood = {}) {
    const moodFile = Path.join(folder, `${name}.mood.json`)
    const state = Path.join(folder, `${name}.state`)
    this.#record = Path.join(folder, `${name}.record`)
    Fs.mkdirSync(state, { recursive: true })
    Fs.writeFileSync(moodFile, JSON.stringify(mood))
    this.launch = {
      command: process.execPath,
      args: [executable, "--mood-file", moodFile, "--record", this.#record, "--state-dir", state],
    }
  }

  /** Everything its processes recorded, in the order of their writes. */
  get entries(): ReadonlyArray<Entry> {
    if (!Fs.existsSync(this.#record)) return []
    const lines = Fs.readFileSync(this.#record, "utf8").split("\n")
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Entry)
  }

  /** Its processes, in the order of their starts. */
  get pids(): ReadonlyArray<number> {
    return this.entries.filter((entry) => entry.event === "start").map((entry) => entry.pid)
  }

  /** The messages that it read, those of one process where `pid` is given. */
  received(pid?: number): ReadonlyArray<Message> {
    return this.#messages("in", pid)
  }

  /** The messages that it wrote. */
  sent(pid?: number): ReadonlyArray<Message> {
    return this.#messages("out", pid)
  }

  /** The methods that it was asked or told, in order. */
  methods(pid?: number): ReadonlyArray<string> {
    return this.received(pid).flatMap((message) => (message.method === undefined ? [] : [message.method]))
  }

  /** The prompts that it was sent, as the arrays of blocks they were. */
  get prompts(): ReadonlyArray<ReadonlyArray<{ readonly type: string; readonly text?: string }>> {
    return this.received().flatMap((message) => (message.method === "session/prompt" ? [message.params.prompt] : []))
  }

  #messages(dir: "in" | "out", pid: number | undefined): ReadonlyArray<Message> {
    return this.entries
      .filter((entry) => entry.dir === dir && (pid === undefined || entry.pid === pid))
      .map((entry) => JSON.parse(entry.line ?? "null") as Message)
  }
}
