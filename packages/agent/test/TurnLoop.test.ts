import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Histories, HistoryUnavailable } from "../src/History.ts"
import { type Item, Items } from "../src/Item.ts"
import { type Part, type Interface as Provider, ProviderError } from "../src/ModelProvider.ts"
import { type Tool, type Turn, type TurnEvent, TurnLoop } from "../src/TurnLoop.ts"

const prompt: Item = { type: "prompt", id: "p", content: [{ type: "text", text: "go" }] }
const text = (text: string): Part => ({ type: "text", text })
const thinking = (text: string): Part => ({ type: "thinking", text })
const call = (name = "compose", input = {}): Part => ({ type: "call", name, input })

/** A model whose n-th request gets the n-th response. */
const model = (...responses: ReadonlyArray<Stream.Stream<Part, ProviderError>>): Provider => {
  let next = 0
  return {
    name: "test",
    models: [{ id: "test", name: "Test", window: 1000 }],
    stream: () => Stream.suspend(() => responses[next++] ?? Stream.empty),
  }
}

const says = (...parts: ReadonlyArray<Part>) => Stream.fromIterable(parts)

const compose = (run: Tool["run"]): Tool => ({ spec: { name: "compose", description: "", input: {} }, run })

const nothing = { take: Effect.succeed([]), finish: Effect.succeed([]) }

const makeTurn = (provider: Provider, change: Partial<Turn> = {}) => {
  const events: Array<TurnEvent> = []
  const history = Histories.memory()
  const turn: Turn = {
    provider,
    model: "test",
    effort: "default",
    system: "",
    tools: [compose((_id, input) => Effect.succeed({ status: "completed", output: input }))],
    history,
    arriving: nothing,
    limits: TurnLoop.defaultLimits,
    emit: (event) =>
      Effect.sync(() => {
        events.push(event)
      }),
    ...change,
  }
  return { turn, events, history, shape: () => history.items().map((item) => item.type) }
}

const expectValid = (items: ReadonlyArray<Item>) => {
  expect(Items.unanswered(items)).toEqual([])
  const results = items.filter((item) => item.type === "result")
  expect(new Set(results.map((item) => item.id)).size).toBe(results.length)
  for (const result of results) {
    const at = items.findIndex((item) => item.type === "call" && item.id === result.id)
    expect(at).toBeGreaterThanOrEqual(0)
    expect(at).toBeLessThan(items.indexOf(result))
  }
  expect(items[0]).toEqual(prompt)
  expect(items.at(-1)?.type).toBe("stop")
}

describe("TurnLoop", () => {
  it.effect("asks, answers calls, and asks again until the model calls no more", () =>
    Effect.gen(function* () {
      const { turn, history, shape } = makeTurn(
        model(says(thinking("a"), thinking("b"), text("one "), call(), call()), says(text("done"))),
      )
      expect(yield* TurnLoop.run(turn, [prompt])).toBe("end_turn")
      expect(shape()).toEqual(["prompt", "thought", "answer", "call", "call", "result", "result", "answer", "stop"])
      expect(history.items()[1]).toMatchObject({ text: "ab" })
      expectValid(history.items())
    }),
  )

  it.effect("runs the calls of one response at once", () =>
    Effect.gen(function* () {
      const both = yield* Deferred.make<void>()
      let running = 0
      const tool = compose(() =>
        Effect.gen(function* () {
          if (++running === 2) yield* Deferred.succeed(both, undefined)
          yield* Deferred.await(both)
          return { status: "completed", output: null } as const
        }),
      )
      const { turn } = makeTurn(model(says(call(), call()), says(text("x"))), { tools: [tool] })
      expect(yield* TurnLoop.run(turn, [prompt])).toBe("end_turn")
    }),
  )

  it.effect("streams with the ids of the items that follow", () =>
    Effect.gen(function* () {
      const { turn, events } = makeTurn(model(says(text("a"), text("b"), { type: "usage", used: 3, window: 10 })))
      yield* TurnLoop.run(turn, [prompt])
      const deltas = events.filter((event) => event.type === "delta")
      const answer = events.find((event) => event.type === "item" && event.item.type === "answer")
      expect(deltas.map((delta) => delta.text)).toEqual(["a", "b"])
      expect(answer).toMatchObject({ item: { id: deltas[0]!.id, text: "ab" } })
      expect(events.map((event) => event.type)).toContain("usage")
    }),
  )

  it.effect("records an item before anyone sees it and before it acts", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const history = Histories.memory()
      const tool = compose(() =>
        Effect.sync(() => {
          expect(history.items().some((item) => item.type === "call")).toBe(true)
          return { status: "completed", output: null } as const
        }),
      )
      const { turn } = makeTurn(model(says(call()), says(text("x"))), {
        history,
        tools: [tool],
        emit: (event) =>
          Effect.sync(() => {
            if (event.type === "item") seen.push(history.items().indexOf(event.item))
          }),
      })
      yield* TurnLoop.run(turn, [prompt])
      expect(seen).toEqual([0, 1, 2, 3, 4])
    }),
  )

  it.effect("answers an unknown tool with a failure and goes on", () =>
    Effect.gen(function* () {
      const { turn, history } = makeTurn(model(says(call("bash")), says(text("x"))))
      yield* TurnLoop.run(turn, [prompt])
      expect(history.items()[2]).toMatchObject({ type: "result", status: "failed", output: { code: "UNKNOWN_TOOL" } })
    }),
  )

  it.effect.each([
    { reason: "max_tokens" as const, parts: [text("cut"), { type: "finish", reason: "max_tokens" } as const] },
    { reason: "refusal" as const, parts: [{ type: "finish", reason: "refusal" } as const] },
    { reason: "max_tokens" as const, parts: [call(), { type: "finish", reason: "max_tokens" } as const] },
  ])("stops with the model's reason and a valid history", ({ reason, parts }) =>
    Effect.gen(function* () {
      const { turn, history } = makeTurn(model(says(...parts)))
      expect(yield* TurnLoop.run(turn, [prompt])).toBe(reason)
      expectValid(history.items())
    }),
  )

  it.effect("stops with max_turn_requests at its bound", () =>
    Effect.gen(function* () {
      const endless = { ...model(), stream: () => says(call()) }
      const { turn, history } = makeTurn(endless, { limits: { ...TurnLoop.defaultLimits, requests: 3 } })
      expect(yield* TurnLoop.run(turn, [prompt])).toBe("max_turn_requests")
      expect(history.items().filter((item) => item.type === "call").length).toBe(3)
      expectValid(history.items())
    }),
  )

  it.effect("tries a retryable failure again, takes back what was streamed, and waits longer each time", () =>
    Effect.gen(function* () {
      const overloaded = Stream.concat(says(text("half")), Stream.fail(new ProviderError({ message: "busy", retryable: true })))
      const { turn, events, shape } = makeTurn(model(overloaded, overloaded, says(text("whole"))))
      const fiber = yield* Effect.forkChild(TurnLoop.run(turn, [prompt]))
      yield* TestClock.adjust(turn.limits.backoffMs)
      expect(events.filter((event) => event.type === "superseded").length).toBe(2)
      yield* TestClock.adjust(turn.limits.backoffMs)
      expect(shape()).toEqual(["prompt"])
      yield* TestClock.adjust(turn.limits.backoffMs)
      expect(yield* Fiber.join(fiber)).toBe("end_turn")
      expect(shape()).toEqual(["prompt", "answer", "stop"])
    }),
  )

  it.effect("fails with the model's message once it may not try again, keeping what had arrived", () =>
    Effect.gen(function* () {
      const broken = Stream.concat(
        says(text("half"), call()),
        Stream.fail(new ProviderError({ message: "no credit", retryable: false })),
      )
      const { turn, history, shape } = makeTurn(model(broken))
      expect(yield* Effect.flip(TurnLoop.run(turn, [prompt]))).toMatchObject({ message: "no credit" })
      expect(shape()).toEqual(["prompt", "answer", "call", "result", "stop"])
      expectValid(history.items())
    }),
  )

  it.effect("does nothing more once the history cannot be recorded", () =>
    Effect.gen(function* () {
      const history = Histories.memory()
      const failing = {
        ...history,
        append: (item: Item) =>
          item.type === "call" ? Effect.fail(new HistoryUnavailable({ reason: "disk full" })) : history.append(item),
      }
      const tool = compose(() => Effect.die("the call ran without being recorded"))
      const { turn, events } = makeTurn(model(says(call())), { history: failing, tools: [tool] })
      expect((yield* Effect.flip(TurnLoop.run(turn, [prompt]))).message).toContain("disk full")
      expect(events.at(-1)).toMatchObject({ type: "item", item: { type: "stop", reason: "error" } })
    }),
  )

  it.effect("delivers guidance before the next request, and at the end of the running stream", () =>
    Effect.gen(function* () {
      const steer = (id: string): Item => ({ type: "steer", id, content: [{ type: "text", text: id }] })
      const waiting: Array<Array<Item>> = [[], [steer("during")], []]
      const late: Array<Array<Item>> = [[steer("late")], []]
      const { turn, shape } = makeTurn(model(says(call()), says(text("first")), says(text("second"))), {
        arriving: { take: Effect.sync(() => waiting.shift() ?? []), finish: Effect.sync(() => late.shift() ?? []) },
      })
      expect(yield* TurnLoop.run(turn, [prompt])).toBe("end_turn")
      expect(shape()).toEqual(["prompt", "call", "result", "steer", "answer", "steer", "answer", "stop"])
    }),
  )
})

describe("an interrupted turn", () => {
  const Kind = Schema.Literals(["text", "thinking", "call", "fail", "retry", "finish"])
  const stream = (kinds: ReadonlyArray<typeof Kind.Type>): Stream.Stream<Part, ProviderError> =>
    Stream.flatMap(Stream.fromIterable(kinds), (kind) => {
      if (kind === "text") return Stream.succeed(text("t"))
      if (kind === "thinking") return Stream.succeed(thinking("h"))
      if (kind === "call") return Stream.succeed(call())
      if (kind === "finish") return Stream.succeed<Part>({ type: "finish", reason: "max_tokens" })
      return Stream.fail(new ProviderError({ message: "broken", retryable: kind === "retry" }))
    })

  /** Runs a turn, interrupting it at its n-th event: an emission, a part of the model, the start or the end of a call. */
  const interruptAt = Effect.fnUntraced(function* (responses: ReadonlyArray<ReadonlyArray<typeof Kind.Type>>, at: number) {
    let events = 0
    let fiber: Fiber.Fiber<unknown, unknown> | undefined
    const event = Effect.suspend(() => {
      if (events++ === at) fiber?.interruptUnsafe()
      return Effect.yieldNow
    })
    const provider = model(...responses.map((kinds) => Stream.tap(stream(kinds), () => event)))
    const tool = compose(() => event.pipe(Effect.andThen(event), Effect.as({ status: "completed", output: null } as const)))
    const { turn, history } = makeTurn(provider, {
      tools: [tool],
      emit: () => event,
      limits: { requests: 10, retries: 1, backoffMs: 0 },
    })
    fiber = yield* Effect.forkChild(TurnLoop.run(turn, [prompt]))
    return { exit: yield* Fiber.await(fiber), items: history.items(), reached: events > at }
  })

  it.live.prop(
    "leaves a valid history wherever it is cut",
    { responses: Schema.Array(Schema.Array(Kind).check(Schema.isMaxLength(5))).check(Schema.isMaxLength(4)) },
    ({ responses }) =>
      Effect.gen(function* () {
        for (let at = 0; ; at++) {
          const { exit, items, reached } = yield* interruptAt(responses, at)
          expectValid(items)
          if (!reached) break
          const stop = items.at(-1) as Extract<Item, { type: "stop" }>
          if (Exit.hasInterrupts(exit) && stop.reason === "cancelled") continue
          expect(["end_turn", "max_tokens", "error", "max_turn_requests"]).toContain(stop.reason)
        }
      }),
    { arbitrary: { runs: 60 } },
  )

  it.effect("keeps what had been streamed and tells that its calls were cancelled", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const tool = compose(() => Effect.andThen(Deferred.succeed(started, undefined), Effect.never))
      const { turn, history, shape } = makeTurn(model(says(text("working"), call())), { tools: [tool] })
      const fiber = yield* Effect.forkChild(TurnLoop.run(turn, [prompt]))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      expect(shape()).toEqual(["prompt", "answer", "call", "result", "stop"])
      expect(history.items()[3]).toMatchObject({ status: "cancelled", output: { code: "CANCELLED" } })
      expect(history.items()[4]).toEqual({ type: "stop", reason: "cancelled" })
    }),
  )
})
