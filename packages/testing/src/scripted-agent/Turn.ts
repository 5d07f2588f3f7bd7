import type { Mood, Step } from "../Mood.ts"
import { promptText, type Session } from "./Sessions.ts"
import { type Outcome, Stage } from "./Stage.ts"
import { isScript, perform } from "./Steps.ts"
import { fields } from "./Value.ts"
import { tellInject } from "./Waits.ts"

/** The script that a prompt brings along, if it does. */
const broughtBy = (prompt: ReadonlyArray<unknown>): ReadonlyArray<Step> | undefined => {
  for (const block of prompt.map(fields)) {
    const marked = fields(block._meta).script
    if (isScript(marked)) return marked
    const text = block.text
    if (typeof text !== "string" || !text.trimStart().startsWith('{"script"')) continue
    try {
      const { script } = JSON.parse(text)
      if (isScript(script)) return script
    } catch {}
  }
  return undefined
}

const scriptFor = (mood: Mood, prompt: ReadonlyArray<unknown>): ReadonlyArray<Step> => {
  const brought = broughtBy(prompt)
  if (brought !== undefined) return brought
  const text = promptText(prompt)
  const rule = mood.replies?.find(({ match }) => new RegExp(match, "s").test(text))
  return rule?.script ?? mood.reply ?? [{ say: `echo: ${text}` }]
}

/** One prompt, from its request to its end. */
export class Turn {
  readonly stage: Stage
  readonly done: Promise<void>
  readonly #requestId: unknown
  readonly #prompt: ReadonlyArray<unknown>
  readonly #userMessage: string
  readonly #finish: () => void
  readonly #result: unknown

  constructor(stage: Stage, requestId: unknown, prompt: ReadonlyArray<unknown>, userMessage: string, result: unknown) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.stage = stage
    this.done = promise
    this.#finish = resolve
    this.#requestId = requestId
    this.#prompt = prompt
    this.#userMessage = userMessage
    this.#result = result
  }

  /** Plays the turn; resolves when the last of it was queued. */
  async run(session: Session): Promise<void> {
    const { peer, mood } = this.stage
    if (mood.coalesce === true) peer.wire.hold()
    await (this.stage.version === 1 ? this.#runV1() : this.#runV2())
    session.history = [...session.history, { messageId: this.#userMessage, prompt: this.#prompt, answer: this.stage.said }]
    this.#finish()
    await peer.wire.release()
  }

  async #play(): Promise<Outcome> {
    const { mood, peer } = this.stage
    const outcome = (await perform(this.stage, scriptFor(mood, this.#prompt))) ?? { kind: "stop", stop: "end_turn" }
    while (this.stage.hasInject && !this.stage.over) await tellInject(this.stage)
    if (outcome.kind !== "cancelled") return outcome
    const { before, error, stop } = mood.cancelled ?? {}
    if (before !== undefined) {
      await perform(new Stage(peer, mood, this.stage.version, this.stage.session, this.stage.messageId), before)
    }
    if (error !== undefined) return { kind: "fail", error }
    return { kind: "stop", stop: stop === undefined ? "cancelled" : stop }
  }

  async #runV1(): Promise<void> {
    const { peer } = this.stage
    const outcome = await this.#play()
    if (outcome.kind === "mute") return
    if (outcome.kind === "fail") return void peer.error(this.#requestId, outcome.error)
    void peer.result(this.#requestId, this.#result ?? resultV1(outcome))
  }

  async #runV2(): Promise<void> {
    const { peer, mood, messageId } = this.stage
    const rev = mood.v2 ?? {}
    const order = rev.order ?? "first"
    const answer = rev.answer === "empty" ? {} : rev.answer === "null" ? null : { messageId: this.#userMessage }
    let answered = false
    const respond = () => {
      answered = true
      return peer.result(this.#requestId, this.#result ?? answer)
    }
    const marked = rev.noMessageIds === true ? {} : { messageId: this.#userMessage }
    if (order === "first") await respond()
    if (rev.echo !== false) {
      await this.stage.update({ sessionUpdate: "user_message", ...marked, content: this.#prompt })
    }
    if (rev.running !== false) await this.stage.update({ sessionUpdate: "state_update", state: "running" })
    if (order === "running") await respond()
    this.stage.messageId = messageId
    const outcome = await this.#play()
    if (outcome.kind === "mute") return
    if (!answered && outcome.kind === "fail") await peer.error(this.#requestId, outcome.error)
    else if (!answered && outcome.kind === "answer") await peer.result(this.#requestId, outcome.result)
    for (let n = 0; n < (rev.idle ?? 1); n++) await this.stage.update(idle(outcome, rev.noStopReason === true))
    if (!answered && outcome.kind !== "fail" && outcome.kind !== "answer") await respond()
  }
}

const resultV1 = (outcome: Outcome): unknown => {
  if (outcome.kind === "answer") return outcome.result
  if (outcome.kind !== "stop") return { stopReason: "end_turn" }
  return {
    ...(outcome.stop === null ? {} : { stopReason: outcome.stop }),
    ...(outcome.usage === undefined ? {} : { usage: outcome.usage }),
  }
}

const idle = (outcome: Outcome, silent: boolean) => {
  const state = { sessionUpdate: "state_update", state: "idle" }
  if (outcome.kind === "fail") return { ...state, stopReason: "error", error: outcome.error }
  if (outcome.kind !== "stop") return { ...state, stopReason: "end_turn" }
  const { stop, error, usage } = outcome
  return {
    ...state,
    ...(stop === null || (silent && stop === "end_turn") ? {} : { stopReason: stop }),
    ...(error === undefined ? {} : { error }),
    ...(usage === undefined ? {} : { usage }),
  }
}
