import { equalJson, isJsonObject, type Json, type JsonObject, parseJson, stringifyJson, utf8Bytes } from "./Json.ts"

const onlyKeys = (value: JsonObject, ...keys: ReadonlyArray<string>): boolean =>
  Object.keys(value).every((key) => keys.includes(key))

/** What a list of one thing or a `content` entry with nothing else holds. */
const unwrapped = (content: Json | undefined): Json | undefined => {
  if (Array.isArray(content)) return content.length === 1 ? content[0] : undefined
  return isJsonObject(content) && content.type === "content" && onlyKeys(content, "type", "content") ? content.content : content
}

/** The one text that tool content consists of, if it consists of one text and nothing else. */
const soleText = (content: Json | undefined): string | undefined => {
  const block = unwrapped(unwrapped(content))
  return isJsonObject(block) && block.type === "text" && typeof block.text === "string" && onlyKeys(block, "type", "text")
    ? block.text
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

  /** `messageId` marks what a later whole message of that id takes back. `false` where it was left out. */
  add(update: JsonObject, messageId?: string): boolean {
    if (this.held.length < this.maxItems && this.bytes < this.maxBytes) {
      const bytes = utf8Bytes(stringifyJson(update))
      if (this.bytes + bytes <= this.maxBytes) {
        this.held.push({ update, bytes, messageId })
        this.bytes += bytes
        return true
      }
    }
    this.truncated = true
    return false
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
