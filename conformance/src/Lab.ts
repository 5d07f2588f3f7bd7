import { Agent, type Message, type Subject, type Version } from "./Agent.ts"
import { given } from "./Rule.ts"

const both = (version: number) => ({
  protocolVersion: version,
  clientCapabilities: {},
  clientInfo: { name: "conformance", version: "1" },
  capabilities: {},
  info: { name: "conformance", version: "1" },
})

/** The parameters of `initialize` for a version; `more` is laid over them. */
export const initialize = (version: number, more: object = {}) =>
  version === 1
    ? { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: "conformance", version: "1" }, ...more }
    : { ...both(version), ...more }

/** A conversation that was had, for rules to look at. */
export interface Conversation {
  readonly agent: Agent
  readonly sessionId: string
  /** The answer to `session/prompt`. */
  readonly answer: Message
  /** The updates of the turn, in order. */
  readonly updates: ReadonlyArray<Message>
}

const isIdle = (update: Message) => update.sessionUpdate === "state_update" && update.state === "idle"

/** Agents and conversations, each had once and shared by the rules that look at it. */
export class Lab {
  readonly subject: Subject
  readonly #kept = new Map<string, Promise<unknown>>()
  readonly #agents: Array<Agent> = []

  constructor(subject: Subject) {
    this.subject = subject
  }

  get version(): Version {
    return this.subject.version
  }

  #once<A>(key: string, make: () => Promise<A>): Promise<A> {
    const found = (this.#kept.get(key) as Promise<A> | undefined) ?? make()
    this.#kept.set(key, found)
    return found
  }

  /** An agent that nobody has spoken to. */
  fresh(): Agent {
    const agent = new Agent(this.subject)
    this.#agents.push(agent)
    return agent
  }

  /** An agent of one's own that was initialized. */
  async ready(more: object = {}): Promise<Agent> {
    const agent = this.fresh()
    await agent.call("initialize", initialize(this.version, more))
    return agent
  }

  /** The answer of an agent that nobody has spoken to before to `initialize` for a version. */
  offered(version: number): Promise<Message> {
    return this.#once(`offered ${version}`, () => this.fresh().call("initialize", initialize(version)))
  }

  /** The result of `initialize`. */
  async initialized(): Promise<Message> {
    return (await this.offered(this.version)).result ?? {}
  }

  /** The capabilities of sessions, whichever version. */
  async capability(name: string): Promise<unknown> {
    const result = await this.initialized()
    if (this.version === 2) return result.capabilities?.session?.[name]
    if (name === "load") return result.agentCapabilities?.loadSession || undefined
    if (name === "prompt") return result.agentCapabilities?.promptCapabilities
    return result.agentCapabilities?.sessionCapabilities?.[name]
  }

  async newSession(agent: Agent, more: object = {}): Promise<Message> {
    const { result, error } = await agent.call("session/new", { cwd: this.subject.cwd, mcpServers: [], ...more })
    given(error === undefined, `session/new failed: ${error?.message}`)
    return result
  }

  /** Sends a prompt and waits until its turn has ended. */
  async turn(agent: Agent, sessionId: string, content: string | ReadonlyArray<object>, more: object = {}): Promise<Conversation> {
    const before = agent.updates(sessionId).length
    const prompt = typeof content === "string" ? [{ type: "text", text: content }] : content
    const answer = await agent.call("session/prompt", { sessionId, prompt, ...more })
    if (this.version === 2 && "result" in answer) await this.idle(agent, sessionId, before)
    return { agent, sessionId, answer, updates: agent.updates(sessionId).slice(before) }
  }

  /** Waits for the end of a turn of version 2 among the updates after the first `before`. */
  idle(agent: Agent, sessionId: string, before = 0): Promise<Message> {
    return agent.until("idle state", () => {
      const updates = agent.updates(sessionId).slice(before)
      const running = updates.findIndex((update) => update.sessionUpdate === "state_update" && update.state === "running")
      return running === -1 ? undefined : updates.slice(running).find(isIdle)
    })
  }

  /** Initialize, new, one prompt. */
  quick(): Promise<Conversation> {
    return this.#once("quick", async () => {
      const agent = await this.ready()
      const { sessionId } = await this.newSession(agent)
      return this.turn(agent, sessionId, this.subject.prompts.quick)
    })
  }

  /** A prompt that makes the agent call a tool. */
  tool(): Promise<Conversation> {
    return this.#once("tool", async () => {
      const { tool } = this.subject.prompts
      given(tool !== undefined, "no prompt is known that makes the agent call a tool")
      const agent = await this.ready()
      const { sessionId } = await this.newSession(agent)
      return this.turn(agent, sessionId, tool)
    })
  }

  /** A prompt that takes long, and what ended it: a cancel, or a close. */
  stopped(how: "session/cancel" | "session/close"): Promise<Conversation> {
    return this.#once(how, async () => {
      const agent = await this.ready()
      const { sessionId } = await this.newSession(agent)
      const id = await this.slow(agent, sessionId)
      if (how === "session/cancel") agent.notify(how, { sessionId })
      else await agent.call(how, { sessionId })
      const answer = await agent.answer(id)
      if (this.version === 2) await this.idle(agent, sessionId)
      return { agent, sessionId, answer, updates: agent.updates(sessionId) }
    })
  }

  /** Sends the slow prompt and waits until the agent works on it; gives the id of the request. */
  async slow(agent: Agent, sessionId: string): Promise<unknown> {
    const { slow } = this.subject.prompts
    given(slow !== undefined, "no prompt is known that takes long")
    const id = agent.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: slow }] })
    await agent.until("sign of work", () =>
      agent
        .updates(sessionId)
        .find(({ sessionUpdate, state }) => state === "running" || /^(tool_call|agent_)/.test(sessionUpdate)),
    )
    return id
  }

  async end() {
    await Promise.all(this.#agents.map((agent) => agent.stop()))
  }
}
