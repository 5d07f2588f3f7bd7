import type { SubagentError } from "@acp-kit/orchestrator/SubagentError"
import type { HandleValue, Subagents } from "@acp-kit/orchestrator/Subagents"
import type { SessionStore } from "@acp-kit/store/SessionStore"
import { expect } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { watch } from "./World.ts"

/** Live children of one session in these runs. */
export const places = 4

type Outcome = "ok" | "refuse" | "auth" | "exit" | "hang"
export type Command =
  | { readonly type: "start"; readonly outcome: Outcome; readonly name: string }
  | { readonly type: "prompt"; readonly which: number; readonly outcome: Outcome; readonly stale: boolean }
  | { readonly type: "fork"; readonly which: number; readonly outcome: Outcome; readonly name: string }
  | { readonly type: "close" | "reuse" | "kill"; readonly which: number }
  | { readonly type: "restart" }

const below = (limit: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: limit - 1 })))

/** Drawn so that most runs have a few children to work with, and every failure comes now and then. */
const weighted = <A>(...choices: ReadonlyArray<readonly [number, A]>): Arbitrary.Arbitrary<A> => {
  const all = choices.flatMap(([weight, choice]) => Array.from({ length: weight }, () => choice))
  return Arbitrary.map(below(all.length), (at) => all[at]!)
}
const outcome = weighted<Outcome>([12, "ok"], [1, "refuse"], [2, "auth"], [1, "exit"], [1, "hang"])
const kind = weighted<Command["type"]>(
  [8, "start"],
  [8, "prompt"],
  [5, "fork"],
  [3, "close"],
  [1, "reuse"],
  [1, "kill"],
  [2, "restart"],
)
const name = weighted([2, "Reviewer"], [2, "reviewer"], [2, ""], [1, "x".repeat(32)])
/** One step of a run. */
export const command: Arbitrary.Arbitrary<Command> = Arbitrary.flatMap(kind, (type) =>
  Arbitrary.flatMap(outcome, (how) =>
    Arbitrary.flatMap(name, (preferred) =>
      Arbitrary.map(
        below(1_000),
        (which) => ({ type, outcome: how, name: preferred, which, stale: which % 10 === 0 }) as Command,
      ),
    ),
  ),
)

/** One child as the model sees it; `process` is absent while it has none. */
interface Known {
  id: string
  name: string
  /** The name in its last durable record: what a restart begins with. */
  recorded: string
  generation: number
  process: number | undefined
}

/** What every state must follow from: a list of children, and nothing else. */
class Model {
  live: Array<Known> = []
  /** Gone for good: closed, or failed in a turn. */
  readonly gone = new Map<string, "Closed" | "Interrupted">()
  /** Gone until the next start: the process ended in between. */
  lost: Array<Known> = []
  #processes = 0

  get attached(): number {
    return this.live.filter((child) => child.process !== undefined).length
  }
  get processes(): number {
    return new Set(this.live.flatMap((child) => child.process ?? [])).size
  }
  newProcess(): number {
    return ++this.#processes
  }
  name(preferred: string): string {
    const taken = (name: string) => this.live.some((child) => child.name.toLowerCase() === name.toLowerCase())
    if (preferred !== "" && !taken(preferred)) return preferred
    for (let number = preferred === "" ? 1 : 2; ; number++) {
      const suffix = ` ${number}`
      const name = preferred === "" ? `Agent ${number}` : `${preferred.slice(0, 32 - suffix.length)}${suffix}`
      if (!taken(name)) return name
    }
  }
  remove(child: Known): void {
    this.live = this.live.filter((other) => other !== child)
  }
  /** A process ended: whoever lives in it and is not in a turn is lost. */
  end(process: number | undefined): ReadonlyArray<Known> {
    const residents = this.live.filter((child) => child.process === process)
    for (const child of residents) this.remove(child)
    this.lost.push(...residents)
    return residents
  }
  restart(order: ReadonlyArray<string>): void {
    const back = [...this.live, ...this.lost].sort((left, right) => order.indexOf(left.id) - order.indexOf(right.id))
    this.live = []
    this.lost = []
    for (const child of back) this.live.push({ ...child, name: this.name(child.recorded), process: undefined })
  }
}

/** One run of a session. */
export interface Run extends Subagents.Live {
  readonly session: SessionStore.SessionWriter
  /** Ends it as the end of a program does. */
  readonly end: Effect.Effect<void>
}

/** Where the children of a run live: processes that echo a prompt, or do what its text says: `refuse`, `auth`, `exit`, `hang` until cancelled. */
export interface Machine {
  /** Opens the one session, anew or again. */
  readonly open: Effect.Effect<Run, never, Scope.Scope>
  /** Called before a prompt goes out that says so. */
  readonly prepare: (outcome: string) => void
  /** A prompt is in the middle of a turn that hangs. */
  readonly hangs: Effect.Effect<void>
  readonly running: () => number
  /** Kills the process that serves an ACP session. */
  readonly kill: (session: string) => void
}

interface Parent extends Run {
  readonly removed: (id: string) => Effect.Effect<unknown>
}

const open = Effect.fnUntraced(function* (machine: Machine): Effect.fn.Return<Parent, never, Scope.Scope> {
  const run = yield* machine.open
  const events = yield* watch(run)
  return { ...run, removed: (id) => events.until((event) => event.type === "removed" && event.id === id) }
})

const codes = { refuse: "REFUSED", auth: "AUTH_REQUIRED", exit: "LOST" } as const
/** Runs a verb as the outcome wants it: one that hangs is interrupted in the middle of its turn. */
const run = (machine: Machine, outcome: string, verb: Effect.Effect<HandleValue, SubagentError>) =>
  Effect.gen(function* () {
    machine.prepare(outcome)
    if (outcome !== "hang") return yield* Effect.result(verb)
    const fiber = yield* Effect.forkChild(Effect.result(verb), { startImmediately: true })
    const early = yield* Effect.raceFirst(Effect.as(machine.hangs, undefined), Fiber.join(fiber))
    if (early !== undefined) return early
    yield* Fiber.interrupt(fiber)
    return undefined
  })

type Ran = Result.Result<HandleValue, SubagentError> | undefined

const codeOf = (ran: Ran): string => (ran === undefined ? "interrupted" : Result.isSuccess(ran) ? "ok" : ran.failure.code)
const wanted = (outcome: string): string =>
  outcome === "ok" || outcome === "hang" ? (outcome === "ok" ? "ok" : "interrupted") : codes[outcome as keyof typeof codes]

const step = Effect.fnUntraced(function* (machine: Machine, model: Model, parent: Parent, command: Command) {
  switch (command.type) {
    case "start": {
      const { outcome, name } = command
      const ran = yield* run(machine, outcome, parent.subagent({ prompt: outcome, name }))
      if (model.attached >= places) return expect(codeOf(ran)).toBe("CAPACITY")
      expect(codeOf(ran)).toBe(wanted(outcome))
      if (ran === undefined || Result.isFailure(ran)) return
      const { id, generation } = ran.success
      expect(ran.success).toMatchObject({ name: model.name(name), generation: 1, output: "echo: ok" })
      const given = model.name(name)
      model.live.push({ id, name: given, recorded: given, generation, process: model.newProcess() })
      return
    }
    case "prompt": {
      const child = model.live[command.which % model.live.length]
      if (child === undefined) return
      const { outcome, stale } = command
      const held = { id: child.id, generation: stale ? child.generation + 1 : child.generation }
      const ran = yield* run(machine, outcome, parent.prompt({ subagent: held, prompt: outcome }))
      if (stale) return expect(codeOf(ran)).toBe("STALE_GENERATION")
      if (child.process === undefined) {
        if (model.attached >= places) return expect(codeOf(ran)).toBe("CAPACITY")
        child.process = model.newProcess()
      }
      expect(codeOf(ran)).toBe(wanted(outcome))
      child.recorded = child.name
      if (outcome === "ok") child.generation++
      else if (outcome !== "auth") {
        model.remove(child)
        model.gone.set(child.id, "Interrupted")
        if (outcome === "exit") for (const sibling of model.end(child.process)) yield* parent.removed(sibling.id)
      }
      return
    }
    case "fork": {
      const child = model.live[command.which % model.live.length]
      if (child === undefined) return
      const { outcome, name } = command
      const ran = yield* run(
        machine,
        outcome,
        parent.fork({ subagent: { id: child.id, generation: child.generation }, prompt: outcome, name }),
      )
      if (child.process === undefined) {
        if (model.attached >= places) return expect(codeOf(ran)).toBe("CAPACITY")
        child.process = model.newProcess()
      }
      if (model.attached >= places) return expect(codeOf(ran)).toBe("CAPACITY")
      expect(codeOf(ran)).toBe(wanted(outcome))
      if (ran !== undefined && Result.isSuccess(ran)) {
        expect(ran.success).toMatchObject({ name: model.name(name), generation: child.generation + 1 })
        const { id, generation } = ran.success
        const given = model.name(name)
        model.live.push({ id, name: given, recorded: given, generation, process: child.process })
      } else if (outcome === "exit") for (const sibling of model.end(child.process)) yield* parent.removed(sibling.id)
      return
    }
    case "close": {
      const child = model.live[command.which % model.live.length]
      if (child === undefined) return
      expect(yield* parent.close({ id: child.id })).toEqual({ id: child.id })
      model.remove(child)
      model.gone.set(child.id, "Closed")
      return
    }
    case "reuse": {
      const gone = [...model.gone.keys()][command.which % model.gone.size]
      if (gone !== undefined) {
        const error = yield* Effect.flip(parent.prompt({ subagent: { id: gone, generation: 1 }, prompt: "x" }))
        expect(error.code).toBe("SUBAGENT_RETIRED")
      }
      const lost = model.lost[command.which % model.lost.length]
      if (lost === undefined) return
      expect(
        (yield* Effect.flip(parent.prompt({ subagent: { id: lost.id, generation: lost.generation }, prompt: "x" }))).code,
      ).toBe("LOST")
      return
    }
    case "kill": {
      const child = model.live[command.which % model.live.length]
      if (child?.process === undefined) return
      const [record] = (yield* parent.session.children).filter((other) => other.id === child.id)
      machine.kill(record!.acp_session_id)
      for (const sibling of model.end(child.process)) yield* parent.removed(sibling.id)
      return
    }
    case "restart":
      return model.restart((yield* parent.session.children).map((record) => record.id))
  }
})

const agree = Effect.fnUntraced(function* (machine: Machine, model: Model, parent: Parent) {
  const rows = (yield* parent.subagents({})) as ReadonlyArray<any>
  const byId = (left: { id: string }, right: { id: string }) => (left.id < right.id ? -1 : 1)
  expect(rows.map(({ id, name, status, generation }) => ({ id, name, status, generation })).sort(byId)).toEqual(
    model.live.map(({ id, name, generation }) => ({ id, name, status: "idle", generation })).sort(byId),
  )
  expect(machine.running()).toBe(model.processes)
  const records = new Map((yield* parent.session.children).map((record) => [record.id, record]))
  for (const child of [...model.live, ...model.lost]) {
    expect(records.get(child.id)).toMatchObject({ lifecycle: "Idle", generation: child.generation })
  }
  for (const [id, lifecycle] of model.gone) expect(records.get(id)?.lifecycle).toBe(lifecycle)
})

/** Takes a session through these steps, and compares all that can be seen of it with the model after each. */
export const follow = Effect.fnUntraced(function* (machine: Machine, commands: ReadonlyArray<Command>) {
  const model = new Model()
  let parent = yield* open(machine)
  for (const command of commands) {
    yield* step(machine, model, parent, command)
    if (command.type === "restart") {
      yield* parent.end
      expect(machine.running()).toBe(0)
      parent = yield* open(machine)
    }
    yield* agree(machine, model, parent)
  }
  yield* parent.end
  expect(machine.running()).toBe(0)
}, Effect.scoped)
