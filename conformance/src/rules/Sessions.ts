import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { Message } from "../Agent.ts"
import type { Lab } from "../Lab.ts"
import { expect, given, type Rule, rule } from "../Rule.ts"

const isMessage = ({ sessionUpdate }: Message) => /^(user|agent)_(message|thought)/.test(sessionUpdate)

const needs = async (lab: Lab, capability: string) =>
  given(
    lab.version === 2 && ["list", "resume", "close"].includes(capability) ? true : (await lab.capability(capability)) != null,
    `${capability} is not advertised`,
  )

/** A session with one turn, attached again by load or resume; what came before the answer, and after. */
const again = async (lab: Lab, method: "session/load" | "session/resume", more: object = {}) => {
  const agent = await lab.ready()
  const { sessionId } = await lab.newSession(agent)
  const { updates: original } = await lab.turn(agent, sessionId, lab.subject.prompts.quick)
  const from = agent.messages.length
  const answer = await agent.call(method, { sessionId, cwd: lab.subject.cwd, mcpServers: [], ...more })
  const at = agent.messages.indexOf(answer)
  await agent.quiet()
  const updatesIn = (messages: ReadonlyArray<Message>) => messages.flatMap(({ params }) => params?.update ?? [])
  return { answer, original, before: updatesIn(agent.messages.slice(from, at)), after: updatesIn(agent.messages.slice(at + 1)) }
}

const fromStart = { replayFrom: { type: "start" } }

const listed = async (lab: Lab, params: object = {}) => {
  await needs(lab, "list")
  const agent = await lab.ready()
  const { sessionId } = await lab.newSession(agent)
  const { result, error } = await agent.call("session/list", params)
  expect(error === undefined, JSON.stringify(error))
  return { agent, sessionId, sessions: result?.sessions as ReadonlyArray<Message> | undefined }
}

export const rules: ReadonlyArray<Rule> = [
  rule("SESSION-001", "capability", [1, 2], "a session with a working directory opens, and has an id", async (lab) => {
    const agent = await lab.ready()
    const { sessionId } = await lab.newSession(agent)
    expect(typeof sessionId === "string" && sessionId !== "", JSON.stringify(sessionId))
  }),
  rule("SESSION-002", "capability", [1, 2], "two sessions differ", async (lab) => {
    const agent = await lab.ready()
    const [one, two] = [await lab.newSession(agent), await lab.newSession(agent)]
    expect(one.sessionId !== two.sessionId, one.sessionId)
  }),
  rule("SESSION-203", "capability", [2], "mcpServers may be left out, or be empty", async (lab) => {
    const agent = await lab.ready()
    for (const more of [{}, { mcpServers: [] }]) {
      const { error } = await agent.call("session/new", { cwd: lab.subject.cwd, ...more })
      expect(error === undefined, JSON.stringify(error))
    }
  }),
  rule("LOAD-101", "capability", [1], "load replays the conversation before it answers, and nothing after", async (lab) => {
    await needs(lab, "load")
    const { answer, before, after } = await again(lab, "session/load")
    expect("result" in answer, JSON.stringify(answer.error))
    expect(
      before.some(({ sessionUpdate }) => sessionUpdate === "user_message_chunk"),
      "no user message",
    )
    expect(
      before.some(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk"),
      "no agent message",
    )
    expect(!after.some(isMessage), "messages after the answer")
  }),
  rule("RESUME-201", "capability", [1, 2], "resume works", async (lab) => {
    await needs(lab, "resume")
    const { answer } = await again(lab, "session/resume")
    expect("result" in answer, JSON.stringify(answer.error))
  }),
  rule("RESUME-202", "capability", [2], "a replay from the start comes before the answer, all of it", async (lab) => {
    const { before, after } = await again(lab, "session/resume", fromStart)
    expect(before.some(isMessage), "no history")
    expect(!after.some(isMessage), "history after the answer")
  }),
  rule("RESUME-203", "capability", [1, 2], "without a replay no history comes", async (lab) => {
    await needs(lab, "resume")
    const { before, after } = await again(lab, "session/resume")
    expect(![...before, ...after].some(isMessage), "history")
  }),
  rule("RESUME-204", "capability", [2], "a replayed user message has its original id", async (lab) => {
    const { original, before } = await again(lab, "session/resume", fromStart)
    const idOf = (updates: ReadonlyArray<Message>) =>
      updates.find(({ sessionUpdate }) => sessionUpdate === "user_message")?.messageId
    expect(idOf(original) !== undefined && idOf(before) === idOf(original), `${idOf(original)} and ${idOf(before)}`)
  }),
  rule("RESUME-205", "capability", [2], "replayed chunks follow a whole message of their id", async (lab) => {
    const { before } = await again(lab, "session/resume", fromStart)
    const whole = new Set<string>()
    for (const { sessionUpdate, messageId } of before) {
      if (/_chunk$/.test(sessionUpdate) && messageId) expect(whole.has(messageId), messageId)
      else if (messageId) whole.add(messageId)
    }
  }),
  rule("RESUME-206", "informational", [2], "a cursor of another kind is refused", async (lab) => {
    const { answer } = await again(lab, "session/resume", { replayFrom: { type: "_elsewhere" } })
    expect(answer.error?.code === -32602, JSON.stringify(answer.error ?? answer.result))
  }),
  rule("LIST-201", "capability", [1, 2], "sessions are listed, with absolute directories", async (lab) => {
    const { sessions } = await listed(lab)
    expect(Array.isArray(sessions), JSON.stringify(sessions))
    expect(
      sessions!.every(({ cwd }) => isAbsolute(cwd)),
      "a relative directory",
    )
  }),
  rule("LIST-202", "capability", [1, 2], "a directory without sessions has none", async (lab) => {
    const { sessions } = await listed(lab, { cwd: "/nowhere/at/all" })
    expect(sessions?.length === 0, JSON.stringify(sessions))
  }),
  rule("LIST-203", "capability", [1, 2], "the list of a directory is that directory's", async (lab) => {
    const { sessions } = await listed(lab, { cwd: lab.subject.cwd })
    expect(
      sessions?.every(({ cwd }) => cwd === lab.subject.cwd),
      "another directory",
    )
  }),
  rule("CLOSE-201", "capability", [1, 2], "closing a session that rests is answered with an empty object", async (lab) => {
    await needs(lab, "close")
    const agent = await lab.ready()
    const { sessionId } = await lab.newSession(agent)
    const { result } = await agent.call("session/close", { sessionId })
    expect(result !== undefined && Object.keys(result).every((key) => key === "_meta"), JSON.stringify(result))
  }),
  rule("DELETE-201", "capability", [1, 2], "a deleted session is no longer listed", async (lab) => {
    await needs(lab, "delete")
    const { agent, sessionId } = await listed(lab, { cwd: lab.subject.cwd })
    expect("result" in (await agent.call("session/delete", { sessionId })), "an error")
    const { result } = await agent.call("session/list", { cwd: lab.subject.cwd })
    expect(!result?.sessions.some((session: Message) => session.sessionId === sessionId), "still there")
  }),
  rule("DELETE-203", "advisory", [1, 2], "deleting twice succeeds", async (lab) => {
    await needs(lab, "delete")
    const agent = await lab.ready()
    const { sessionId } = await lab.newSession(agent)
    for (let round = 0; round < 2; round++) {
      const { error } = await agent.call("session/delete", { sessionId })
      expect(error === undefined, JSON.stringify(error))
    }
  }),
  rule("FORK-001", "capability", [1, 2], "a fork has an id of its own, and both go on", async (lab) => {
    await needs(lab, "fork")
    const agent = await lab.ready()
    const { sessionId } = await lab.newSession(agent)
    await lab.turn(agent, sessionId, lab.subject.prompts.quick)
    const { result, error } = await agent.call("session/fork", { sessionId, cwd: lab.subject.cwd, mcpServers: [] })
    expect(result?.sessionId && result.sessionId !== sessionId, JSON.stringify(error ?? result))
    for (const id of [result.sessionId, sessionId]) {
      const { answer } = await lab.turn(agent, id, lab.subject.prompts.quick)
      expect("result" in answer, JSON.stringify(answer.error))
    }
  }),
  rule("ADDDIRS-201", "capability", [1, 2], "additional directories are accepted where that is advertised", async (lab) => {
    await needs(lab, "additionalDirectories")
    const directory = mkdtempSync(join(tmpdir(), "conformance-"))
    try {
      mkdirSync(join(directory, "more"))
      const agent = await lab.ready()
      const { error } = await agent.call("session/new", {
        cwd: lab.subject.cwd,
        mcpServers: [],
        additionalDirectories: [join(directory, "more")],
      })
      expect(error === undefined, JSON.stringify(error))
    } finally {
      rmSync(directory, { recursive: true })
    }
  }),
  rule("INFO-SESSION-201", "informational", [1, 2], "a prompt to an unknown session is -32002", async (lab) => {
    const { error } = await (await lab.ready()).call("session/prompt", {
      sessionId: "nobody",
      prompt: [{ type: "text", text: "x" }],
    })
    expect(error?.code === -32002, JSON.stringify(error))
  }),
]
