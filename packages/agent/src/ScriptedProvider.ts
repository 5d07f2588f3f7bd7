import type { JsonObject } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { CompactJson } from "./CompactJson.ts"
import { Fences } from "./Fence.ts"
import { type Item, type ResultStatus, textOf } from "./Item.ts"
import { type Interface, type Part, ProviderError, type Request } from "./ModelProvider.ts"
import { type Script, Scripts, type Step } from "./Script.ts"

/** Characters per token, and the window in tokens, of the embedded model. */
const charactersPerToken = 4
export const defaultWindow = 128_000

/**
 * The embedded model: no key, no network, no chance. Each fenced `runlet` block of the prompt becomes one compose call, in order,
 * and the answer is the last result: a string as it is, anything else as compact canonical JSON. After a failed call the answer is
 * `error <code>: <message>`. A prompt without a block is answered `echo: <text>`. While a call goes on in the background there is
 * nothing to say. A script replaces this by rules.
 */
export const make = (script?: Script): Interface => ({
  name: "scripted",
  models: [{ id: "scripted", name: "Scripted (no model, no network)", window: script?.window ?? defaultWindow }],
  stream: (request) => {
    const exchange = currentExchange(request.items)
    const steps = script && !exchange.answered ? Scripts.stepsFor(script, exchange.text) : undefined
    const parts = steps ? followSteps(remaining(steps, exchange), exchange, request) : Stream.fromIterable(builtIn(exchange))
    return withUsage(parts, request, script?.window ?? defaultWindow)
  },
})

/** What happened since the prompt that is being answered. */
interface Exchange {
  /** Prompt and guidance, in order. */
  readonly messages: ReadonlyArray<string>
  /** The text of the prompt. */
  readonly text: string
  /** How many calls were made. */
  readonly calls: number
  readonly results: ReadonlyArray<Item & { readonly type: "result" }>
  /** The model has spoken since the last result: what follows can only be guidance. */
  readonly answered: boolean
}

const currentExchange = (items: ReadonlyArray<Item>): Exchange => {
  const start = items.findLastIndex((item) => item.type === "prompt")
  const current = items.slice(Math.max(start, 0))
  const messages = current.flatMap((item) => (item.type === "prompt" || item.type === "steer" ? [textOf(item.content)] : []))
  const results = current.filter((item) => item.type === "result")
  const answered =
    current.findLastIndex((item) => item.type === "answer") > current.findLastIndex((item) => item.type === "result")
  const calls = current.filter((item) => item.type === "call").length
  return { messages, text: messages[0] ?? "", calls, results, answered }
}

const builtIn = ({ messages, calls, results }: Exchange): ReadonlyArray<Part> => {
  const failed = results.find(({ status }) => !successful(status))
  if (failed) return speak(render(failed))
  const blocks = messages.map((message) => Fences.fences(message).filter((fence) => fence.language === "runlet"))
  const next = blocks.flat()[calls]
  if (next) return [{ type: "call", name: "compose", input: composeInput(next) }]
  const last = results.at(-1)
  if (last?.status === "detached") return []
  return speak(blocks.at(-1)?.length && last ? render(last) : `echo: ${messages.at(-1) ?? ""}`)
}

const composeInput = ({ body, options }: Fences.Fence): JsonObject => ({ script: body, ...options })

const successful = (status: ResultStatus): boolean => status === "completed" || status === "detached"

const render = ({ status, output }: Item & { readonly type: "result" }): string => {
  if (successful(status)) return typeof output === "string" ? output : CompactJson.encode(output)
  const { code, message } = output as { readonly code: string; readonly message: string }
  return `error ${code}: ${message}`
}

/** The steps after the calls that have their results. */
const remaining = (steps: ReadonlyArray<Step>, { calls }: Exchange): ReadonlyArray<Step> => {
  let answered = calls
  for (const [index, step] of steps.entries()) {
    if (answered <= 0) return steps.slice(index)
    answered -= Scripts.callsOf(step).length
  }
  return []
}

const followSteps = (
  steps: ReadonlyArray<Step>,
  { results }: Exchange,
  { attempt }: Request,
): Stream.Stream<Part, ProviderError> => {
  const call = steps.findIndex((step) => Scripts.callsOf(step).length > 0)
  const response = call === -1 ? steps : steps.slice(0, call + 1)
  const last = results.at(-1)
  const filled = response.map((step) => Scripts.fill(step, (key) => (key === "result" && last ? render(last) : undefined)))
  return Stream.fromIterable(filled).pipe(
    Stream.flatMap((step) => follow(step, attempt)),
    Stream.takeUntil((part) => part.type === "finish"),
  )
}

const follow = (step: Step, attempt: number): Stream.Stream<Part, ProviderError> => {
  if ("say" in step) return Stream.fromIterable(speak(step.say, Math.ceil(step.say.length / (step.pieces ?? 1))))
  if ("think" in step) return Stream.succeed({ type: "thinking", text: step.think })
  if ("wait_ms" in step) return Stream.drain(Stream.fromEffect(Effect.sleep(step.wait_ms)))
  if ("stop" in step) return Stream.succeed({ type: "finish", reason: step.stop })
  if ("compose" in step)
    return Stream.fromIterable(Scripts.callsOf(step).map((input) => ({ type: "call", name: "compose", input })))
  const fails = step.attempts === undefined || attempt < step.attempts
  return fails ? Stream.fail(new ProviderError({ message: step.fail, retryable: step.attempts !== undefined })) : Stream.empty
}

/** A streaming model speaks in pieces of at most this many UTF-16 units. */
const pieceLength = 4096

const speak = (text: string, length = pieceLength): ReadonlyArray<Part> =>
  text === "" ? [] : pieces(text, length).map((text) => ({ type: "text", text }))

/** Cuts a text into pieces of the given length; a surrogate pair is never parted. */
const pieces = (text: string, length: number): ReadonlyArray<string> => {
  const cut: Array<string> = []
  for (let from = 0; from < text.length; ) {
    const to = from + Math.max(1, length)
    const parted = /[\uD800-\uDBFF]/.test(text[to - 1] ?? "") ? 1 : 0
    cut.push(text.slice(from, to + parted))
    from = to + parted
  }
  return cut
}

const withUsage = (
  parts: Stream.Stream<Part, ProviderError>,
  { items }: Request,
  window: number,
): Stream.Stream<Part, ProviderError> =>
  Stream.suspend(() => {
    let characters = items.reduce((sum, item) => sum + sizeOf(item), 0)
    const counted = Stream.map(parts, (part) => {
      characters += part.type === "call" ? sizeOf({ ...part, id: "" }) : "text" in part ? part.text.length : 0
      return part
    })
    return Stream.concat(
      counted,
      Stream.suspend(() => Stream.succeed({ type: "usage" as const, used: Math.ceil(characters / charactersPerToken), window })),
    )
  })

const sizeOf = (item: Item): number => {
  switch (item.type) {
    case "prompt":
    case "steer":
      return textOf(item.content).length
    case "answer":
    case "thought":
      return item.text.length
    case "call":
      return CompactJson.encode(item.input).length
    case "result":
      return CompactJson.encode(item.output).length
    case "stop":
    case "selection":
      return 0
  }
}

export * as ScriptedProvider from "./ScriptedProvider.ts"
