import * as Fs from "node:fs"
import type { Behaviour, Capability, Mood, Point, RpcError } from "../Mood.ts"
import * as Encode from "./Encode.ts"
import { Peer } from "./Peer.ts"
import { replay } from "./Replay.ts"
import type { Session, Sessions } from "./Sessions.ts"
import { Stage } from "./Stage.ts"
import { perform } from "./Steps.ts"
import { Turn } from "./Turn.ts"
import { type Fields, fields, text } from "./Value.ts"
import type { Wire } from "./Wire.ts"

/** What a method did: a result, an error, or nothing to say. */
type Reply = { readonly result: unknown; readonly session?: Session } | { readonly error: RpcError }

const failed = (code: number, message: string, data?: unknown): Reply => ({
  error: { code, message, ...(data === undefined ? {} : { data }) },
})

const gates: Partial<Readonly<Record<string, Capability>>> = {
  "session/fork": "fork",
  "session/delete": "delete",
  "session/inject": "inject",
  "_session/steering": "steering",
}

const gatesV1: Partial<Readonly<Record<string, Capability>>> = {
  "session/close": "close",
  "session/list": "list",
  "session/load": "load",
  "session/resume": "resume",
}

/** The scripted agent: dispatches what arrives, in the order in which it arrives. */
export class Agent {
  readonly #mood: Mood
  readonly #peer: Peer
  readonly #sessions: Sessions
  readonly #calls = new Map<string, number>()
  readonly #turns = new Map<string, Array<Turn>>()
  readonly #pending = new Map<string, Stage>()
  #version = 1
  #loggedIn = false
  #messages = 0

  constructor(mood: Mood, wire: Wire, sessions: Sessions) {
    this.#mood = mood
    this.#peer = new Peer(wire, mood)
    this.#sessions = sessions
  }

  /** A stage outside of any turn. */
  stage(session?: Session): Stage {
    return new Stage(this.#peer, this.#mood, this.#version, session, `m${this.#messages}`)
  }

  receive(line: string): void {
    let message: Fields
    try {
      message = fields(JSON.parse(line))
    } catch {
      void this.#peer.error(null, { code: -32700, message: "Parse error" })
      return
    }
    const method = text(message.method)
    const params = fields(message.params)
    if (method === undefined) this.#peer.answered(message)
    else if ("id" in message) void this.#request(message.id, method, params)
    else void this.#notification(method, params)
  }

  /** Cancels every turn, as the end of input does. */
  abort(): void {
    for (const turns of this.#turns.values()) for (const turn of turns) turn.stage.cancel()
  }

  #deaf(what: NonNullable<Mood["deaf"]>[number]): boolean {
    return this.#mood.deaf?.includes(what) ?? false
  }

  #behaviour(method: string): Behaviour {
    const call = (this.#calls.get(method) ?? 0) + 1
    this.#calls.set(method, call)
    const told = this.#mood.on?.[method as Point] ?? []
    const list: ReadonlyArray<Behaviour> = "length" in told ? told : [told]
    return list.find((behaviour) => behaviour.call === undefined || behaviour.call === call) ?? {}
  }

  async #notification(method: string, params: Fields): Promise<void> {
    const behaviour = this.#behaviour(method)
    if (method === "$/cancel_request") {
      if (!this.#deaf("cancel_request")) this.#pending.get(JSON.stringify(params.requestId))?.cancel()
      return
    }
    if (method !== "session/cancel") return
    const session = this.#sessions.get(params.sessionId)
    const stage = this.stage(session)
    await perform(stage, behaviour.before ?? [])
    if (!this.#deaf("cancel") && session !== undefined) this.#cancel(session)
    await perform(stage, behaviour.after ?? [])
  }

  #cancel(session: Session): void {
    for (const turn of this.#turns.get(session.id) ?? []) turn.stage.cancel()
    if (this.#mood.cancelled?.withdraw === true) this.#peer.withdraw(session.id)
  }

  async #request(id: unknown, method: string, params: Fields): Promise<void> {
    const behaviour = this.#behaviour(method)
    const denied = this.#denied(method)
    if (denied !== undefined) {
      await this.#peer.error(id, denied)
      if (this.#mood.auth?.exit !== undefined) process.exit(this.#mood.auth.exit)
      return
    }
    if (method === "session/prompt") return this.#prompt(id, params, behaviour)
    const reply = behaviour.error !== undefined ? { error: behaviour.error } : this.#reply(method, params, behaviour)
    const session = "session" in reply ? reply.session : this.#sessions.get(params.sessionId)
    const stage = this.stage(session)
    this.#pending.set(JSON.stringify(id), stage)
    if (replays(method, params, this.#version, this.#mood) && "result" in reply) await replay(stage)
    const outcome = await perform(stage, behaviour.before ?? [])
    this.#pending.delete(JSON.stringify(id))
    if (behaviour.silent === true) return
    if (stage.over) await this.#peer.error(id, { code: -32800, message: "Request cancelled" })
    else if (outcome?.kind === "fail") await this.#peer.error(id, outcome.error)
    else if ("error" in reply) await this.#peer.error(id, reply.error)
    else await this.#peer.result(id, resultOf(behaviour, reply.result))
    if (method === "initialize" && "error" in reply && this.#mood.otherVersion === "refuse-and-exit") process.exit(1)
    await perform(this.stage(session), behaviour.after ?? [])
  }

  #denied(method: string): RpcError | undefined {
    const { auth } = this.#mood
    if (auth === undefined || !auth.at.includes(method as Point) || this.#loggedIn) return undefined
    if (auth.until !== undefined && Fs.existsSync(auth.until)) return undefined
    return {
      code: -32000,
      message: auth.message ?? "Authentication required",
      ...(auth.data === undefined ? {} : { data: auth.data }),
    }
  }

  #reply(method: string, params: Fields, behaviour: Behaviour): Reply {
    const gate = gates[method] ?? (this.#version === 1 ? gatesV1[method] : undefined)
    const on = gate === undefined || (this.#mood.capabilities?.[gate] ?? gate !== "steering")
    if (!on && behaviour.result === undefined) return failed(-32601, `Method not found: ${method}`)
    if (behaviour.idle === true) return { result: {} }
    switch (method) {
      case "initialize":
        return this.#initialize(params)
      case "authenticate":
      case "auth/login":
        this.#loggedIn = true
        return { result: {} }
      case "session/new":
        return this.#opened(this.#sessions.create(params))
      case "session/load":
      case "session/resume":
        return this.#reopen(params)
      case "session/list":
        return { result: { sessions: this.#list(params.cwd) } }
      case "session/set_mode":
        return { result: {} }
    }
    const session = this.#sessions.get(params.sessionId)
    if (session === undefined) return unknownSession(params)
    switch (method) {
      case "session/fork":
        return this.#opened(this.#sessions.create(params, session))
      case "session/close":
      case "session/delete":
        this.#cancel(session)
        if (method === "session/close") this.#sessions.close(session.id)
        else this.#sessions.delete(session.id)
        return { result: {}, session }
      case "session/set_config_option":
        return this.#setOption(session, params)
      case "session/inject":
        return this.#inject(session, params.content)
      case "_session/steering":
        return "error" in this.#inject(session, params.prompt)
          ? { result: { outcome: "promptRequired", reason: "noRunningTurn" } }
          : { result: { outcome: "injected" } }
      default:
        return failed(-32601, `Method not found: ${method}`)
    }
  }

  #initialize(params: Fields): Reply {
    const wanted = Number(params.protocolVersion)
    const versions = this.#mood.versions ?? [1, 2]
    const other = this.#mood.otherVersion ?? "latest"
    if (!versions.includes(wanted) && typeof other === "string" && other !== "latest") {
      return failed(-32022, "Unsupported protocol version", { requested: wanted, supported: versions })
    }
    const version = versions.includes(wanted) ? wanted : typeof other === "object" ? other.answer : Math.max(...versions)
    this.#version = version === 1 ? 1 : 2
    return { result: Encode.initialized(this.#mood, version) }
  }

  #opened(session: Session): Reply {
    return { result: { sessionId: session.id, ...this.#options(session) }, session }
  }

  #options(session: Session): Fields {
    return this.#mood.options === undefined ? {} : { configOptions: Encode.options(session.options, this.#version) }
  }

  #reopen(params: Fields): Reply {
    const cursor = params.replayFrom
    if (cursor !== undefined && cursor !== null && fields(cursor).type !== "start") {
      return failed(-32602, "Unknown replay cursor")
    }
    const unknown = this.#mood.unknownSession
    const found = this.#sessions.find(params.sessionId)
    if (found === undefined && unknown !== "empty") return unknown === undefined ? unknownSession(params) : { error: unknown }
    const session = found ?? this.#sessions.empty(String(params.sessionId))
    this.#sessions.place(session, params)
    return { result: this.#options(session), session }
  }

  #list(cwd: unknown): ReadonlyArray<Fields> {
    return this.#sessions
      .all()
      .filter((session) => cwd === undefined || cwd === null || session.cwd === cwd)
      .map(({ id, cwd, title }) => ({ sessionId: id, cwd, ...(title === null ? {} : { title }) }))
  }

  #setOption(session: Session, params: Fields): Reply {
    const { configId, value } = params
    const option = session.options.find(({ id }) => id === configId)
    if (option === undefined) return failed(-32602, `Unknown option: ${String(configId)}`)
    if (!Encode.accepts(option, value)) return failed(-32602, `Invalid value for ${option.id}`)
    const effect = this.#mood.optionEffects?.find((effect) => effect.id === option.id && effect.value === value)
    session.options =
      effect?.options ??
      session.options.map((entry) => (entry.id === option.id ? { ...entry, currentValue: value as string | boolean } : entry))
    this.#sessions.save(session)
    return { result: { configOptions: Encode.options(session.options, this.#version) } }
  }

  #inject(session: Session, content: unknown): Reply {
    const turn = this.#turns.get(session.id)?.[0]
    if (turn === undefined) return failed(-32600, "No turn is running")
    const messageId = `inject-${++this.#messages}`
    turn.stage.inject(messageId, content)
    return { result: { messageId } }
  }

  async #prompt(id: unknown, params: Fields, behaviour: Behaviour): Promise<void> {
    const session = this.#sessions.get(params.sessionId)
    if (session === undefined) return this.#peer.error(id, { code: -32002, message: "Unknown session" })
    const running = this.#turns.get(session.id) ?? []
    const busy = running.length > 0 ? this.#mood.busy : undefined
    if (busy === "mute") return
    if (busy === "reject") return this.#peer.error(id, { code: -32603, message: "Prompt already in progress" })
    if (busy === "cancel-first") this.#cancel(session)
    const user = `u${++this.#messages}`
    const stage = new Stage(this.#peer, this.#mood, this.#version, session, `m${this.#messages}`)
    const prompt = Array.isArray(params.prompt) ? params.prompt : []
    const turn = new Turn(stage, id, prompt, user, behaviour.result)
    this.#turns.set(session.id, [...running, turn])
    this.#pending.set(JSON.stringify(id), stage)
    await running.at(-1)?.done
    const outcome = await perform(stage, behaviour.before ?? [])
    const error = behaviour.error ?? (outcome?.kind === "fail" ? outcome.error : undefined)
    if (error !== undefined) await this.#peer.error(id, error)
    else if (behaviour.silent !== true) await turn.run(session)
    this.#pending.delete(JSON.stringify(id))
    if (behaviour.silent === true) return
    this.#turns.set(
      session.id,
      (this.#turns.get(session.id) ?? []).filter((other) => other !== turn),
    )
    if (error === undefined && this.#sessions.get(session.id) === session) this.#sessions.save(session)
    await perform(this.stage(session), behaviour.after ?? [])
  }
}

const unknownSession = (params: Fields): Reply => failed(-32002, "Resource not found", { sessionId: params.sessionId })

const resultOf = (behaviour: Behaviour, result: unknown): unknown =>
  behaviour.result !== undefined
    ? behaviour.result
    : behaviour.extra === undefined
      ? result
      : { ...fields(result), ...behaviour.extra }

const replays = (method: string, params: Fields, version: number, mood: Mood): boolean => {
  if (mood.replay?.none === true) return false
  if (method === "session/load") return true
  if (method === "session/fork") return mood.replay?.fork === true
  return method === "session/resume" && version !== 1 && params.replayFrom !== undefined
}
