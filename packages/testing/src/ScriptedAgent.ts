import * as Fs from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import type { Mood, Step } from "./Mood.ts"
import { Recording } from "./Recording.ts"

/** What starts a program: as a harness profile says it, and as `Processes.spawn` wants it. */
export interface Launch {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** What agents run on: the runtime at hand, or `KIT_TEST_AGENT_RUNTIME` where that one cannot be relied on. */
export const runtime = process.env.KIT_TEST_AGENT_RUNTIME ?? process.execPath

/** Starts a script of this package. */
export const launchScript = (name: string, ...args: ReadonlyArray<string>): Launch => ({
  command: runtime,
  args: [fileURLToPath(new URL(`./${name}`, import.meta.url)), ...args],
})

export interface Options {
  /** Recorded frames are appended here. */
  readonly record?: string
  /** Sessions are kept here, for whoever starts next. */
  readonly stateDir?: string
}

const optional = (name: string, value: string | undefined): ReadonlyArray<string> => (value === undefined ? [] : [name, value])

/** The launch line of a scripted agent whose mood stands on the line itself. */
export const launch = (mood: Mood = {}, { record, stateDir }: Options = {}): Launch =>
  launchScript(
    "scripted-agent.ts",
    "--mood",
    JSON.stringify(mood),
    ...optional("--record", record),
    ...optional("--state-dir", stateDir),
  )

/** A scripted agent of a test: how to start it, and what it wrote down. */
export interface Agent extends Launch {
  readonly recording: Recording
  /** For those who start from now on. */
  readonly setMood: (mood: Mood) => void
}

/** An agent that keeps its mood, its sessions and its recording in files of a folder, named after it. */
export const inFolder = (folder: string, name: string, mood: Mood = {}): Agent => {
  const file = (ending: string) => Path.join(folder, `${name}.${ending}`)
  const setMood = (next: Mood) => Fs.writeFileSync(file("mood.json"), JSON.stringify(next))
  setMood(mood)
  Fs.mkdirSync(file("state"), { recursive: true })
  const line = launchScript(
    "scripted-agent.ts",
    ...["--mood-file", file("mood.json"), "--record", file("record"), "--state-dir", file("state")],
  )
  return { ...line, recording: new Recording(file("record")), setMood }
}

/** A prompt text that makes the agent play these steps. */
export const script = (...steps: ReadonlyArray<Step>): string => JSON.stringify({ script: steps })

/** A text block that makes the agent play these steps; `text` is what a reader sees. */
export const scriptBlock = (text: string, ...steps: ReadonlyArray<Step>) =>
  ({ type: "text", text, _meta: { script: steps } }) as const

export * as ScriptedAgent from "./ScriptedAgent.ts"
