import type { Calls } from "./Calls.ts"
import { isJsonObject, type Json, type JsonObject, nestsDeeper, parseJson, stringifyJson } from "./Json.ts"
import { codeOf, sessionIdOf, shapeOf } from "./Message.ts"
import type { WireFrame } from "./WireFrame.ts"

/** Far beyond what any message of the protocol needs, and what whoever reads it afterwards can walk. */
const deepest = 256

/** What a line, or one element of a batch, says. */
export interface Incoming {
  readonly line: string
  /** `undefined` where it is no JSON. */
  readonly message: Json | undefined
  /** It nests deeper than anybody should look; integers of it may be rounded. */
  readonly deep: boolean
}

const roughly = (line: string): Json | undefined => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The frames of one line: the line itself, or the elements of a batch, each as a line of its own. */
export const framesOf = (line: string): ReadonlyArray<Incoming> => {
  const deep = nestsDeeper(line, deepest)
  const message = deep ? roughly(line) : parseJson(line)
  if (!Array.isArray(message) || message.length === 0) return [{ line, message, deep }]
  return message.map((element: Json) => {
    const alone = stringifyJson(element)
    return { line: alone, message: element, deep: deep && nestsDeeper(alone, deepest) }
  })
}

const opens = new Set(["session/new", "session/fork"])

const fileAnswer = (message: JsonObject, line: string, calls: Calls): WireFrame => {
  const call = calls.find(message.id)
  const created = call !== undefined && opens.has(call.method) ? sessionIdOf(message.result) : undefined
  const failed = message.error !== undefined && message.error !== null
  return {
    direction: "in",
    line,
    kind: "response",
    message,
    ...(message.id === undefined ? {} : { id: message.id }),
    ...(call === undefined ? {} : { method: call.method }),
    ...(call?.sessionId === undefined ? {} : { sessionId: call.sessionId }),
    ...(created === undefined ? {} : { createdSessionId: created }),
    ...(failed ? { errorCode: codeOf(message.error as Json) } : {}),
  }
}

/** How an inbound frame is filed, before it is handled. */
export const fileInbound = (
  { line, message, deep }: Incoming,
  calls: Calls,
  parentOf: (sessionId: string, method: string, params: Json | undefined) => string | undefined,
): WireFrame => {
  const shape = isJsonObject(message) && !deep ? shapeOf(message) : undefined
  if (!isJsonObject(message) || shape === undefined) return { direction: "in", line, kind: "noise" }
  if (shape === "response") return fileAnswer(message, line, calls)
  const method = message.method as string
  const sessionId = sessionIdOf(message.params)
  const parent = sessionId === undefined ? undefined : parentOf(sessionId, method, message.params)
  return {
    direction: "in",
    line,
    kind: shape,
    message,
    method,
    ...(message.id === undefined ? {} : { id: message.id }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(parent === undefined ? {} : { parentSessionId: parent }),
  }
}
