import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { chunk, initializedV1, initializedV2, state, update, type Wire } from "./Wire.ts"

/** The versions that a behaviour must hold on. */
export const both = [1, 2] as const

export const result = (id: Json | undefined, value: Json): JsonObject => ({ jsonrpc: "2.0", id: id as Json, result: value })

export const error = (id: Json | undefined, code: number): JsonObject => ({
  jsonrpc: "2.0",
  id: id as Json,
  error: { code, message: "no" },
})

export const info = (title: string): JsonObject => ({ sessionUpdate: "session_info_update", title })

/** The methods of all that the client wrote, in order; answers have none. */
export const methods = (wire: Wire) => wire.written.map(({ method }) => method)

/** The answer to `initialize` of an agent of this version with these session capabilities; it loads unless `load` is false. */
export const initialized = (version: 1 | 2, session: JsonObject = {}): JsonObject =>
  version === 1
    ? initializedV1({
        loadSession: session.load !== false,
        promptCapabilities: session.prompt ?? {},
        sessionCapabilities: session,
      })
    : initializedV2(session)

/** The agent's whole part of a turn of session `s`, on either version. */
export const finish = (
  wire: Wire,
  version: 1 | 2,
  id: Json | undefined,
  stopReason: string | undefined,
  ...updates: ReadonlyArray<JsonObject>
): void => finishOf("s", wire, version, id, stopReason, ...updates)

/** The same in another session. */
export const finishOf = (
  sessionId: string,
  wire: Wire,
  version: 1 | 2,
  id: Json | undefined,
  stopReason: string | undefined,
  ...updates: ReadonlyArray<JsonObject>
): void => {
  const said = updates.map((change) => update(sessionId, change))
  const stop = stopReason === undefined ? {} : { stopReason }
  if (version === 1) wire.send(...said, result(id, stop))
  else
    wire.send(
      result(id, { messageId: "u" }),
      update(sessionId, state("running")),
      ...said,
      update(sessionId, state("idle", stop)),
    )
}

/** A whole turn that says these words. */
export const answerPrompt = (wire: Wire, version: 1 | 2, id: Json | undefined, sessionId: string, words: string): void =>
  finishOf(sessionId, wire, version, id, "end_turn", chunk(words))
