import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Step } from "../Mood.ts"
import * as Encode from "./Encode.ts"
import { faults } from "./Faults.ts"
import { questions } from "./Questions.ts"
import { promptText } from "./Sessions.ts"
import type { Outcome, Stage } from "./Stage.ts"
import { type Fields, fields, text } from "./Value.ts"
import { waits } from "./Waits.ts"

/** What one kind of step does; `value` stands under its key, `step` is the whole object. */
export type Play = (stage: Stage, value: unknown, step: Fields) => Promise<Outcome | void>

const update =
  (kind: string): Play =>
  (stage, value) =>
    stage.update({ sessionUpdate: kind, ...fields(value) })

const inSession = (stage: Stage, file: unknown): string => Path.resolve(stage.session?.cwd ?? "", String(file))

const updates: Readonly<Record<string, Play>> = {
  say: async (stage, value, step) => {
    const said = String(value)
    const size = Math.max(1, Math.ceil(said.length / Number(step.chunks ?? 1)))
    if (said === "") await stage.say("", text(step.messageId))
    for (let from = 0; from < said.length; from += size) {
      await stage.say(said.slice(from, from + size), text(step.messageId))
    }
  },
  think: (stage, value) => stage.chunk({ type: "text", text: value }, stage.messageId, "agent_thought_chunk"),
  block: (stage, value, step) => stage.chunk(value, text(step.messageId)),
  message: (stage, value) => {
    const { role, ...message } = fields(value)
    return stage.update({ sessionUpdate: role === "user" ? "user_message" : "agent_message", ...message })
  },
  tool: (stage, value) => update(stage.version === 1 ? "tool_call" : "tool_call_update")(stage, value, {}),
  toolUpdate: update("tool_call_update"),
  toolChunk: update("tool_call_content_chunk"),
  plan: (stage, value, step) =>
    stage.update(
      stage.version === 1
        ? { sessionUpdate: "plan", entries: value }
        : { sessionUpdate: "plan_update", plan: { type: "items", planId: step.planId ?? "plan", entries: value } },
    ),
  usage: update("usage_update"),
  title: (stage, value) => {
    if (stage.session !== undefined) stage.session.title = text(value) ?? null
    return stage.update({ sessionUpdate: "session_info_update", title: value })
  },
  commands: (stage, value) => stage.update({ sessionUpdate: "available_commands_update", availableCommands: value }),
  options: (stage, value) => {
    const options = value as Parameters<typeof Encode.options>[0]
    if (stage.session !== undefined) stage.session.options = options
    return stage.update({ sessionUpdate: "config_option_update", configOptions: Encode.options(options, stage.version) })
  },
  mode: (stage, value) => stage.update({ sessionUpdate: "current_mode_update", currentModeId: value }),
  notice: update("notice"),
  compaction: update("compaction_update"),
  compactionSummary: update("compaction_summary_chunk"),
  terminal: update("terminal_update"),
  terminalChunk: update("terminal_output_chunk"),
  state: (stage, value, { state: _, ...rest }) => stage.update({ sessionUpdate: "state_update", state: value, ...rest }),
  update: (stage, value, step) => stage.update(fields(value), text(step.session)),
  notify: (stage, value) => stage.peer.notify(String(fields(value).method), fields(value).params),
}

const knowledge: Readonly<Record<string, Play>> = {
  recall: (stage) => stage.say(JSON.stringify(stage.session?.history.map((past) => promptText(past.prompt)) ?? [])),
  where: (stage) => {
    const { cwd, additionalDirectories, mcpServers } = stage.session ?? {}
    return stage.say(JSON.stringify({ cwd, additionalDirectories, mcpServers }))
  },
  env: (stage, value) => stage.say(process.env[String(value)] ?? "unset"),
  read: (stage, value) => stage.say(Fs.readFileSync(inSession(stage, value), "utf8")),
  write: async (stage, value, step) => Fs.writeFileSync(inSession(stage, value), text(step.text) ?? ""),
  countLines: (stage, value) => stage.say(String(Fs.readFileSync(inSession(stage, value), "utf8").split("\n").length - 1)),
}

const ends: Readonly<Record<string, Play>> = {
  stop: async (_, value, { error, usage }) => ({
    kind: "stop",
    stop: text(value) ?? null,
    ...(error === undefined ? {} : { error }),
    ...(usage === undefined ? {} : { usage }),
  }),
  fail: async (_, value) => ({ kind: "fail", error: value as { code: number; message: string } }),
  answer: async (_, value) => ({ kind: "answer", result: value }),
  mute: async () => ({ kind: "mute" }),
}

const groups: Readonly<Record<string, Play>> = {
  repeat: async (stage, value, step) => {
    for (let round = 0; round < Number(value); round++) {
      const outcome = await perform(stage, list(step.steps))
      if (outcome !== undefined) return outcome
    }
    return undefined
  },
  together: async (stage, value) => {
    const { wire } = stage.peer
    if (wire.holding) return perform(stage, list(value))
    wire.hold()
    const outcome = await perform(stage, list(value))
    await wire.release()
    return outcome
  },
  deafly: async (stage, value) => {
    stage.deaf = true
    const outcome = await perform(stage, list(value))
    stage.deaf = false
    return outcome
  },
  only: async (stage, value, step) => (stage.version === value ? perform(stage, list(step.steps)) : undefined),
}

const plays: Readonly<Record<string, Play>> = {
  ...groups,
  ...updates,
  ...knowledge,
  ...questions,
  ...waits,
  ...faults,
  ...ends,
}

/** True for a list in which every entry is a known step. */
export const isScript = (value: unknown): value is ReadonlyArray<Step> =>
  Array.isArray(value) && value.every((step) => Object.keys(fields(step)).some((key) => Object.hasOwn(plays, key)))

/** Plays the steps in order, up to the first that ends the turn. A cancelled stage plays no further step. */
export const perform = async (stage: Stage, steps: ReadonlyArray<Step>): Promise<Outcome | void> => {
  for (const step of steps) {
    if (stage.over) return { kind: "cancelled" }
    const key = Object.keys(step).find((name) => Object.hasOwn(plays, name))
    const play = key === undefined ? undefined : plays[key]
    if (key === undefined || play === undefined) {
      return { kind: "fail", error: { code: -32602, message: `unknown step: ${JSON.stringify(step)}` } }
    }
    try {
      const outcome = await play(stage, fields(step)[key], fields(step))
      if (outcome !== undefined) return outcome
    } catch (cause) {
      return { kind: "fail", error: { code: -32603, message: `${key}: ${String(cause)}` } }
    }
  }
  return stage.over ? { kind: "cancelled" } : undefined
}

const list = (value: unknown): ReadonlyArray<Step> => (Array.isArray(value) ? value : [])
