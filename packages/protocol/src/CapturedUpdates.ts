import { equalJson, isJsonObject, type Json, type JsonObject, parseJson, stringifyJson, utf8Bytes } from "./Json.ts"

const onlyKeys = (value: JsonObject, ...keys: ReadonlyArray<string>): boolean =>
  Object.keys(value).every((key) => keys.includes(key))

/** The one text that tool content consists of, if it consists of one text and nothing else. */
const soleText = (content: Json | undefined): string | undefined => {
  if (Array.isArray(content)) return content.length === 1 ? soleText(content[0]) : undefined
  if (!isJsonObject(content)) return undefined
  if (content.type === "content" && onlyKeys(content, "type", "content")) return soleText(content.content)
  return content.type === "text" && typeof content.text === "string" && onlyKeys(content, "type", "text")
    ? content.text
    : undefined
}

/** A tool update whose content only repeats `rawOutput` as JSON has `[]` for content, which still replaces earlier content (S72). */
export const withoutRepeatedOutput = (update: JsonObject): JsonObject => {
  if (update.rawOutput === undefined) return update
  const text = soleText(update.content)
  const copy = text === undefined ? undefined : parseJson(text)
  return copy !== undefined && equalJson(copy, update.rawOutput) ? { ...update, content: [] } : update
}

/**
 * Raw updates in the order in which they arrived, within a number of items and of bytes of compact JSON (S71). What does not fit is
 * left out; smaller ones after it may still fit.
 */
export class CapturedUpdates {
  truncated = false
  private held: Array<{ readonly update: JsonObject; readonly bytes: number; readonly messageId: string | undefined }> = []
  private bytes = 0
  private readonly maxItems: number
  private readonly maxBytes: number

  constructor(maxItems: number, maxBytes: number) {
    this.maxItems = maxItems
    this.maxBytes = maxBytes
  }

  /** `messageId` marks what a later whole message of that id takes back. */
  add(update: JsonObject, messageId?: string): void {
    if (this.held.length < this.maxItems && this.bytes < this.maxBytes) {
      const bytes = utf8Bytes(stringifyJson(update))
      if (this.bytes + bytes <= this.maxBytes) {
        this.held.push({ update, bytes, messageId })
        this.bytes += bytes
        return
      }
    }
    this.truncated = true
  }

  /** Takes back the content of a message that is replaced; its bytes are free again. */
  release(messageId: string): void {
    const kept = this.held.filter((item) => item.messageId !== messageId)
    if (kept.length === this.held.length) return
    this.held = kept
    this.bytes = kept.reduce((sum, item) => sum + item.bytes, 0)
  }

  items(): ReadonlyArray<JsonObject> {
    return this.held.map((item) => item.update)
  }
}
