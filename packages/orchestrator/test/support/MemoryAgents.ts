import type { Harness } from "@acp-kit/orchestrator/Harness"
import { ModelPolicy } from "@acp-kit/orchestrator/ModelPolicy"
import { Processes } from "@acp-kit/platform/Processes"
import { type JsonObject, parseJson, stringifyJson } from "@acp-kit/protocol/Json"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { isObject } from "./World.ts"

/** The machine on which they run. */
export const host = { env: {}, kitHome: "/memory", cwd: "/", self: ["kit"] as const, version: "1" }

/** The harness that reaches them. */
export const profile: Harness.Profile = {
  reference: "acp.memory",
  name: "memory",
  command: "memory",
  args: [],
  source: "configured ACP profile",
  isKit: false,
  policy: ModelPolicy.none,
}

/**
 * Harnesses without processes: each spawned "process" is a small ACP v2 agent in this one, whose sessions outlive it. The text of a prompt says how
 * its turn goes: `refuse`, `auth`, `exit`, `hang` until cancelled; anything else is echoed.
 */
export class MemoryAgents {
  readonly #running = new Map<number, { readonly end: (code: number) => void; readonly sessions: Set<string> }>()
  readonly #sessions = new Map<string, number>()
  #pids = 0
  #ids = 0
  /** Prompts that hang, one Deferred per waiter. */
  #hanging: Array<Deferred.Deferred<void>> = []
  #hung = 0

  /** Prompts that are in the middle of a turn wait here. */
  get hangs(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#hung > 0) return Effect.void
      const waiter = Deferred.makeUnsafe<void>()
      this.#hanging.push(waiter)
      return Deferred.await(waiter)
    })
  }

  get running(): number {
    return this.#running.size
  }

  /** Sessions that were sent a prompt, and sessions that were closed. */
  readonly prompted = new Set<string>()
  readonly closed = new Set<string>()

  /** Ends every process, as the end of the program that started them does. */
  endAll(): void {
    for (const process of [...this.#running.values()]) process.end(0)
  }

  /** Ends the process that serves a session. */
  kill(session: string): void {
    for (const process of [...this.#running.values()]) if (process.sessions.has(session)) process.end(137)
  }

  #spawn(): Processes.Child {
    const pid = ++this.#pids
    const out = Effect.runSync(Queue.unbounded<Uint8Array | undefined>())
    const exited = Deferred.makeUnsafe<Processes.ExitStatus>()
    const sessions = new Set<string>()
    const cancels = new Map<string, () => void>()
    let over = false
    const end = (code: number): void => {
      if (over) return
      over = true
      this.#running.delete(pid)
      this.#hung -= cancels.size
      Queue.offerUnsafe(out, undefined)
      Deferred.doneUnsafe(exited, Effect.succeed({ code, signal: undefined }))
    }
    this.#running.set(pid, { end, sessions })
    const send = (frame: JsonObject): void => {
      if (!over) Queue.offerUnsafe(out, new TextEncoder().encode(`${stringifyJson({ jsonrpc: "2.0", ...frame })}\n`))
    }
    const update = (sessionId: string, fields: JsonObject): void =>
      send({ method: "session/update", params: { sessionId, update: fields } })
    const idle = (session: string, stopReason: string): void =>
      update(session, { sessionUpdate: "state_update", state: "idle", stopReason })
    const open = (id = `session-${++this.#ids}`, turns = 0): string => {
      this.#sessions.set(id, turns)
      sessions.add(id)
      return id
    }
    const turn = (id: JsonObject[string], session: string, text: string) => {
      if (text === "auth") return send({ id, error: { code: -32_000, message: "log in" } })
      if (text === "exit") return end(1)
      this.#sessions.set(session, (this.#sessions.get(session) ?? 0) + 1)
      send({ id, result: { messageId: `m${++this.#ids}` } })
      update(session, { sessionUpdate: "state_update", state: "running" })
      if (text === "hang") {
        this.#hung++
        for (const waiter of this.#hanging.splice(0)) Deferred.doneUnsafe(waiter, Effect.void)
        cancels.set(session, () => {
          cancels.delete(session)
          this.#hung--
          idle(session, "cancelled")
        })
        return
      }
      if (text === "refuse") return idle(session, "refusal")
      update(session, {
        sessionUpdate: "agent_message_chunk",
        messageId: `m${this.#ids}`,
        content: { type: "text", text: `echo: ${text}` },
      })
      idle(session, "end_turn")
    }
    const request = (id: JsonObject[string], method: string, params: JsonObject) => {
      const session = String(params.sessionId)
      switch (method) {
        case "initialize":
          return send({
            id,
            result: {
              protocolVersion: 2,
              info: { name: "memory", version: "1" },
              capabilities: { session: { delete: {}, fork: {}, inject: { modes: ["steer"] } } },
            },
          })
        case "session/new":
          return send({ id, result: { sessionId: open() } })
        case "session/resume": {
          const turns = this.#sessions.get(session)
          if (turns === undefined) return send({ id, error: { code: -32_002, message: "not found" } })
          open(session, turns)
          return send({ id, result: {} })
        }
        case "session/fork":
          return send({ id, result: { sessionId: open(undefined, this.#sessions.get(session)) } })
        case "session/close":
          this.closed.add(session)
          sessions.delete(session)
          return send({ id, result: {} })
        case "session/delete":
          this.#sessions.delete(session)
          return send({ id, result: {} })
        case "session/prompt": {
          this.prompted.add(session)
          const [block] = Array.isArray(params.prompt) ? params.prompt : []
          return turn(id, session, isObject(block) ? String(block.text) : "")
        }
        default:
          return send({ id, error: { code: -32_601, message: "method not found" } })
      }
    }
    const receive = (line: string): void => {
      const message = parseJson(line)
      if (over || !isObject(message) || typeof message.method !== "string") return
      const params = isObject(message.params) ? message.params : {}
      if (message.id !== undefined) request(message.id, message.method, params)
      else if (message.method === "session/cancel") cancels.get(String(params.sessionId))?.()
    }
    return {
      pid,
      mark: `memory-${pid}`,
      read: Queue.take(out),
      readError: Effect.as(Deferred.await(exited), undefined),
      write: (bytes) =>
        Effect.suspend(() => {
          if (over) return Effect.fail(new Processes.PipeClosed())
          const text = typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)
          for (const line of text.split("\n")) if (line !== "") receive(line)
          return Effect.void
        }),
      endInput: Effect.sync(() => end(0)),
      exit: Deferred.await(exited),
      stop: () =>
        Effect.andThen(
          Effect.sync(() => end(0)),
          Deferred.await(exited),
        ),
    }
  }

  readonly layer: Layer.Layer<Processes.Service> = Layer.succeed(Processes.Service, {
    spawn: () =>
      Effect.acquireRelease(
        Effect.sync(() => this.#spawn()),
        (child) => child.stop(),
      ),
    reapMarked: () => Effect.succeed(0),
  })
}
