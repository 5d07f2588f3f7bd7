import type { Message } from "../Agent.ts"
import type { Lab } from "../Lab.ts"
import { expect, given, type Rule, rule } from "../Rule.ts"

const states = (updates: ReadonlyArray<Message>) => updates.filter(({ sessionUpdate }) => sessionUpdate === "state_update")
const reasons = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
const isReason = (reason: unknown) =>
  reason == null || (typeof reason === "string" && (reasons.includes(reason) || reason.startsWith("_")))

const content = (kind: string) =>
  ({
    image: {
      type: "image",
      mimeType: "image/png",
      data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    },
    audio: { type: "audio", mimeType: "audio/wav", data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=" },
    embeddedContext: { type: "resource", resource: { uri: "file:///note.txt", mimeType: "text/plain", text: "a note" } },
  })[kind]

const accepts = async (lab: Lab, kind: string) => {
  const prompt = (await lab.capability("prompt")) as Message | undefined
  given(prompt?.[kind], `${kind} is not advertised`)
  const agent = await lab.ready()
  const { sessionId } = await lab.newSession(agent)
  const { answer } = await lab.turn(agent, sessionId, [{ type: "text", text: lab.subject.prompts.quick }, content(kind)!])
  expect("result" in answer, JSON.stringify(answer.error))
}

const stops = async (lab: Lab, how: "session/cancel" | "session/close") => {
  const { answer, updates } = await lab.stopped(how)
  if (lab.version === 1) expect(answer.result?.stopReason === "cancelled", JSON.stringify(answer.error ?? answer.result))
  else {
    expect("result" in answer, `the prompt failed: ${JSON.stringify(answer.error)}`)
    expect(states(updates).at(-1)?.stopReason === "cancelled", JSON.stringify(states(updates).at(-1)))
  }
}

export const rules: ReadonlyArray<Rule> = [
  rule("PROMPT-101", "mandatory", [1], "a prompt is answered with a stop reason", async (lab) => {
    const { answer } = await lab.quick()
    expect(reasons.includes(answer.result?.stopReason), JSON.stringify(answer.error ?? answer.result))
  }),
  rule("PROMPT-201", "capability", [2], "a prompt is answered with a message id", async (lab) => {
    const { answer } = await lab.quick()
    expect(answer.result?.messageId, JSON.stringify(answer))
  }),
  rule("PROMPT-203", "capability", [2], "the prompt is echoed under that id before the turn ends", async (lab) => {
    const { answer, updates } = await lab.quick()
    const echo = updates.findIndex(
      ({ sessionUpdate, messageId }) => sessionUpdate === "user_message" && messageId === answer.result?.messageId,
    )
    const idle = updates.findIndex(({ state }) => state === "idle")
    expect(echo !== -1 && echo < idle, `echo at ${echo}, idle at ${idle}`)
  }),
  rule("PROMPT-205", "capability", [1, 2], "updates are valid and carry the id of their session", async (lab) => {
    const { agent, sessionId } = await lab.quick()
    const strangers = agent.messages.filter(
      ({ method, params }) => method === "session/update" && params?.sessionId !== sessionId,
    )
    expect(strangers.length === 0, JSON.stringify(strangers[0]))
    expect(agent.violations().length === 0, agent.violations()[0] ?? "")
  }),
  rule("PROMPT-003", "advisory", [1, 2], "text with a link is accepted", async (lab) => {
    const agent = await lab.ready()
    const { sessionId } = await lab.newSession(agent)
    const link = { type: "resource_link", uri: "file:///x.txt", name: "x.txt" }
    const { answer } = await lab.turn(agent, sessionId, [{ type: "text", text: lab.subject.prompts.quick }, link])
    expect("result" in answer, JSON.stringify(answer.error))
  }),
  rule("PROMPTCAP-001", "capability", [1, 2], "an image is accepted where that is advertised", (lab) => accepts(lab, "image")),
  rule("PROMPTCAP-002", "capability", [1, 2], "audio is accepted where that is advertised", (lab) => accepts(lab, "audio")),
  rule("PROMPTCAP-003", "capability", [1, 2], "an embedded resource is accepted where that is advertised", (lab) =>
    accepts(lab, "embeddedContext"),
  ),
  rule("STATE-201", "capability", [2], "idle at the end of a turn was preceded by running", async (lab) => {
    const [first] = states((await lab.quick()).updates)
    expect(first?.state === "running", JSON.stringify(first))
  }),
  rule("STATE-202", "capability", [2], "running is followed by idle", async (lab) => {
    expect(states((await lab.quick()).updates).at(-1)?.state === "idle", "it is not")
  }),
  rule("STATE-203", "capability", [2], "idle has a known reason or one of a vendor", async (lab) => {
    const reason = states((await lab.quick()).updates).at(-1)?.stopReason
    expect(isReason(reason), JSON.stringify(reason))
  }),
  rule("CANCEL-201", "capability", [1, 2], "a cancelled turn ends as cancelled", (lab) => stops(lab, "session/cancel")),
  rule("CANCEL-202", "capability", [2], "no state follows the idle of a cancelled turn", async (lab) => {
    const { agent, sessionId, updates } = await lab.stopped("session/cancel")
    const idle = updates.findIndex(({ state }) => state === "idle")
    await agent.quiet()
    expect(states(agent.updates(sessionId).slice(idle + 1)).length === 0, "a state")
  }),
  rule("CANCEL-203", "capability", [1, 2], "a cancel never makes the prompt fail", async (lab) => {
    const { answer } = await lab.stopped("session/cancel")
    expect("result" in answer, JSON.stringify(answer.error))
  }),
  rule("CANCEL-205", "capability", [1, 2], "a cancel is not answered", async (lab) => {
    const { agent } = await lab.stopped("session/cancel")
    const ids = agent.messages.filter((message) => !("method" in message)).map(({ id }) => id)
    expect(new Set(ids).size === ids.length && !ids.includes(null), JSON.stringify(ids))
  }),
  rule("CANCEL-206", "capability", [1, 2], "a cancel may carry _meta, and one without work is harmless", async (lab) => {
    const { agent, sessionId } = await lab.stopped("session/cancel")
    agent.notify("session/cancel", { sessionId, _meta: { "conformance/x": 1 } })
    const { answer } = await lab.turn(agent, sessionId, lab.subject.prompts.quick)
    expect("result" in answer, JSON.stringify(answer.error))
  }),
  rule("CANCEL-208", "capability", [1, 2], "a close during work cancels it first", async (lab) => {
    given(lab.version === 2 || (await lab.capability("close")), "close is not advertised")
    await stops(lab, "session/close")
  }),
  rule(
    "CLOSE-202",
    "capability",
    [2],
    "the idle of work that a close cancelled comes before the answer to the close",
    async (lab) => {
      const { agent } = await lab.stopped("session/close")
      const closed = agent.messages.findLastIndex(({ result }) => result !== undefined && Object.keys(result).length === 0)
      const idle = agent.messages.findIndex(({ params }) => params?.update?.stopReason === "cancelled")
      expect(idle !== -1 && idle < closed, `idle at ${idle}, answer at ${closed}`)
    },
  ),
  rule("PATCH-201", "capability", [2], "every message and chunk has a message id", async (lab) => {
    const kinds = /^(user|agent)_(message|thought)(_chunk)?$/
    const odd = (await lab.quick()).updates.find(({ sessionUpdate, messageId }) => kinds.test(sessionUpdate) && !messageId)
    expect(odd === undefined, JSON.stringify(odd))
  }),
  rule("PATCH-203", "capability", [2], "two prompts have two message ids", async (lab) => {
    const { agent, sessionId, answer } = await lab.quick()
    const second = await lab.turn(agent, sessionId, lab.subject.prompts.quick)
    expect(second.answer.result?.messageId && second.answer.result.messageId !== answer.result?.messageId, "the same")
  }),
  rule("PATCH-204", "capability", [1, 2], "updates of a tool call say which", async (lab) => {
    const { updates } = await lab.tool()
    const calls = updates.filter(({ sessionUpdate }) => /^tool_call/.test(sessionUpdate))
    expect(calls.length > 0, "no tool call")
    expect(
      calls.every(({ toolCallId }) => toolCallId),
      "one without an id",
    )
  }),
  rule(
    "PATCH-208",
    "advisory",
    [1, 2],
    "the first update of a tool call has a title, and its name does not change",
    async (lab) => {
      const calls = (await lab.tool()).updates.filter(({ sessionUpdate }) => /^tool_call/.test(sessionUpdate))
      expect(calls[0]?.title, JSON.stringify(calls[0]))
      expect(new Set(calls.flatMap(({ name }) => name ?? [])).size <= 1, "several names")
    },
  ),
  rule("TOOL-101", "capability", [1], "a tool call is announced before it is updated", async (lab) => {
    const [first] = (await lab.tool()).updates.filter(({ sessionUpdate }) => /^tool_call/.test(sessionUpdate))
    expect(first?.sessionUpdate === "tool_call", JSON.stringify(first))
  }),
  rule("ENUM-201", "capability", [1, 2], "kinds and statuses of tool calls are known ones or a vendor's", async (lab) => {
    const kinds = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
    const statuses = ["pending", "in_progress", "completed", "failed", "cancelled"]
    for (const { kind, status } of (await lab.tool()).updates) {
      expect(kind == null || kinds.includes(kind) || kind.startsWith("_"), `kind ${kind}`)
      expect(status == null || statuses.includes(status) || status.startsWith("_"), `status ${status}`)
    }
  }),
  rule("INFO-PROMPT-201", "informational", [1, 2], "a prompt while another runs is refused", async (lab) => {
    const agent = await lab.ready()
    const { sessionId } = await lab.newSession(agent)
    await lab.slow(agent, sessionId)
    const { error } = await agent.call("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: lab.subject.prompts.quick }],
    })
    agent.notify("session/cancel", { sessionId })
    expect(error !== undefined, "it is held or taken")
  }),
]
