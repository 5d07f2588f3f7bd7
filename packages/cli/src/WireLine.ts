import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import type { LogGap, LogRecord } from "@acp-kit/store/Record"
import { printable } from "./Printable.ts"

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const field = (value: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined => {
  let at = value
  for (const key of path) at = isObject(at) ? at[key] : undefined
  return at
}

const word = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)

const texts = (blocks: Json | undefined): string => {
  const list = Array.isArray(blocks) ? blocks : [blocks]
  return list
    .map((block: Json | undefined) =>
      field(block, "type") === "text" ? word(field(block, "text")) : `[${word(field(block, "type"))}]`,
    )
    .join(" ")
}

const updateText = (update: Json | undefined): string => {
  const kind = word(field(update, "sessionUpdate"))
  const content = field(update, "content")
  const detail =
    word(field(update, "title")) ||
    (content === undefined || Array.isArray(content) ? "" : texts(content)) ||
    word(field(update, "state")) ||
    word(field(update, "stopReason"))
  const status = word(field(update, "status"))
  return [kind, detail, status === "" ? "" : `(${status})`].filter((part) => part !== "").join(" ")
}

const frameText = (frame: Json | undefined): string => {
  const method = field(frame, "method")
  if (method === "session/update") return updateText(field(frame, "params", "update"))
  if (method === "session/prompt" || method === "session/inject") {
    return `${word(method)} ${texts(field(frame, "params", "prompt") ?? field(frame, "params", "content"))}`
  }
  if (method !== undefined) return word(method)
  const error = field(frame, "error")
  if (error !== undefined) return `error ${word(field(error, "code"))} ${word(field(error, "message"))}`
  const stop = field(frame, "result", "stopReason")
  return stop === undefined ? "result" : `result ${word(stop)}`
}

/** What kind of thing a record is, as `--kind` names it: the method or update of a frame, `result`, `error`, or `note`. */
export const kindOf = (record: LogRecord): string => {
  const frame = field(record.body, "frame")
  if (frame === undefined) return record.kind === "event" ? "note" : record.kind
  const update = field(frame, "params", "update", "sessionUpdate")
  if (typeof update === "string") return update
  const method = field(frame, "method")
  return typeof method === "string" ? method : field(frame, "error") === undefined ? "result" : "error"
}

const clock = (time: number): string => new Date(time).toISOString().slice(11, 23)

/** A record of a wire log as one line: when, which way, and what of it a reader wants to know. */
export const wireLine = (record: LogRecord | LogGap): string => {
  if ("gap" in record) return `${"-".repeat(12)} lines ${record.firstSeq ?? "?"} to ${record.lastSeq ?? "?"} cannot be read`
  const { body } = record
  const direction = field(body, "dir")
  const arrow = direction === "out" ? "→" : direction === "in" ? "←" : "·"
  const frame = field(body, "frame")
  const note = field(body, "note")
  const data = field(body, "data")
  const said =
    frame !== undefined
      ? frameText(frame)
      : note !== undefined
        ? `${word(note)} ${data === undefined ? "" : JSON.stringify(data)}`
        : record.kind
  return `${clock(record.time)} ${arrow} ${printable(said).trimEnd()}`
}
