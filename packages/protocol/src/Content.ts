import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Capabilities } from "./Capabilities.ts"
import { isJsonObject, type Json, type JsonObject, stringifyJson, utf8Bytes } from "./Json.ts"
import { tooLarge } from "./MessageSize.ts"

/** The prompt cannot be sent to this agent as it is; nothing was sent (S05). `index` is the block's place, from 0. */
export class ContentRefused extends Data.TaggedError("ContentRefused")<{
  readonly reason: "empty" | "image" | "embeddedContext" | "type" | "shape" | "size"
  readonly index: number | undefined
  readonly message: string
}> {}

const refused = (reason: ContentRefused["reason"], index: number | undefined, message: string) =>
  new ContentRefused({ reason, index, message })

/** RFC 4648, padded; nothing of it is read here. */
const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/** The first field that a block of this type lacks or has of the wrong kind; `undefined` when it is whole. */
const flaw = (block: JsonObject): string | undefined => {
  const missing = (of: JsonObject, ...keys: ReadonlyArray<string>) => keys.find((key) => typeof of[key] !== "string")
  switch (block.type) {
    case "text":
      return missing(block, "text")
    case "resource_link":
      return missing(block, "uri", "name")
    case "image":
      return missing(block, "data", "mimeType") ?? (isBase64(block.data as string) ? undefined : "data (base64)")
    default: {
      if (!isJsonObject(block.resource)) return "resource"
      const field = missing(block.resource, "uri")
      if (field !== undefined) return `resource.${field}`
      const bodies = [block.resource.text, block.resource.blob].filter((body) => body !== undefined)
      if (bodies.length !== 1 || typeof bodies[0] !== "string") return "resource.text or resource.blob"
      return block.resource.blob === undefined || isBase64(bodies[0]) ? undefined : "resource.blob (base64)"
    }
  }
}

/** Whether a value is JSON through and through: no `undefined`, no function, no number that is not finite. */
const isJson = (root: unknown): boolean => {
  const values: Array<unknown> = [root]
  while (values.length > 0) {
    const value = values.pop()
    switch (typeof value) {
      case "string":
      case "boolean":
      case "bigint":
        break
      case "number":
        if (!Number.isFinite(value)) return false
        break
      case "object":
        if (value === null) break
        if (!Array.isArray(value) && ![Object.prototype, null].includes(Object.getPrototypeOf(value))) return false
        for (const part of Array.isArray(value) ? value : Object.values(value)) values.push(part)
        break
      default:
        return false
    }
  }
  return true
}

const check = (block: Json, index: number, can: Pick<Capabilities, "image" | "embeddedContext">): ContentRefused | undefined => {
  if (!isJsonObject(block) || typeof block.type !== "string") {
    return refused("shape", index, `unsupported child prompt content type: block ${index} is not a content block`)
  }
  switch (block.type) {
    case "image":
      if (!can.image) return refused("image", index, "ACP child does not advertise promptCapabilities.image; prompt was not sent")
      break
    case "resource":
      if (!can.embeddedContext) {
        return refused(
          "embeddedContext",
          index,
          "ACP child does not advertise promptCapabilities.embeddedContext; prompt was not sent",
        )
      }
      break
    case "text":
    case "resource_link":
      break
    default:
      return refused("type", index, `unsupported child prompt content type ${JSON.stringify(block.type)} in block ${index}`)
  }
  const field = flaw(block)
  if (field !== undefined)
    return refused("shape", index, `invalid ${block.type} block ${index}: ${field} is missing or not valid`)
  return isJson(block) ? undefined : refused("shape", index, `block ${index} holds a value that is not JSON`)
}

/** What of a message is not its blocks, at most, in bytes. */
const envelopeBytes = 1024

/**
 * Whether the agent takes these blocks as they are (S01 to S05): text and links always, images and embedded resources where advertised,
 * nothing else, in a message of at most `lineBytes`. Ask before any state changes. The blocks are given back untouched.
 */
export const admitContent = (
  blocks: ReadonlyArray<Json>,
  capabilities: Pick<Capabilities, "image" | "embeddedContext">,
  lineBytes: number,
): Result.Result<ReadonlyArray<JsonObject>, ContentRefused> => {
  if (blocks.length === 0) return Result.fail(refused("empty", undefined, "child prompt must contain at least one content block"))
  for (const [index, block] of blocks.entries()) {
    const problem = check(block, index, capabilities)
    if (problem !== undefined) return Result.fail(problem)
  }
  if (utf8Bytes(stringifyJson(blocks)) > lineBytes - envelopeBytes)
    return Result.fail(
      refused("size", undefined, `${tooLarge("the message that holds the child prompt", lineBytes)}; it was not sent`),
    )
  return Result.succeed(blocks as ReadonlyArray<JsonObject>)
}
