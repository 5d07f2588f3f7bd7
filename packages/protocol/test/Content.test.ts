import { admitContent } from "@acp-kit/protocol/Content"
import type { Json } from "@acp-kit/protocol/Json"
import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const everything = { image: true, embeddedContext: true }
const nothing = { image: false, embeddedContext: false }

const limit = 32 * 1024 * 1024

const refusal = (blocks: ReadonlyArray<unknown>, can = everything) => {
  const admitted = admitContent(blocks as ReadonlyArray<Json>, can, limit)
  return Result.isFailure(admitted) ? admitted.failure : undefined
}

const image = { type: "image", data: "aGk=", mimeType: "image/png" }
const resource = { type: "resource", resource: { uri: "file:///a", text: "x" } }

describe("Content", () => {
  it("refuses an empty prompt", () => {
    expect(refusal([])).toMatchObject({ reason: "empty", message: "child prompt must contain at least one content block" })
  })

  it("S02 takes text and links of a child that advertises nothing", () => {
    expect(
      refusal(
        [
          { type: "text", text: "" },
          { type: "resource_link", uri: "file:///a", name: "a" },
        ],
        nothing,
      ),
    ).toBeUndefined()
  })

  it("S03 takes embedded resources only where embeddedContext is advertised", () => {
    expect(refusal([resource])).toBeUndefined()
    expect(refusal([{ type: "resource", resource: { uri: "u", blob: "aGk=", mimeType: "x/y" } }])).toBeUndefined()
    expect(refusal([{ type: "text", text: "a" }, resource], nothing)).toMatchObject({
      reason: "embeddedContext",
      index: 1,
      message: "ACP child does not advertise promptCapabilities.embeddedContext; prompt was not sent",
    })
  })

  it("S04 takes images only where image is advertised", () => {
    expect(refusal([image])).toBeUndefined()
    expect(refusal([image], nothing)).toMatchObject({
      reason: "image",
      index: 0,
      message: "ACP child does not advertise promptCapabilities.image; prompt was not sent",
    })
  })

  it("S05 refuses audio, unknown and misspelt blocks, and anything that is no block", () => {
    expect(refusal([{ type: "audio", data: "aGk=", mimeType: "audio/wav" }])).toMatchObject({ reason: "type" })
    for (const block of [{ type: "Text", text: "a" }, { type: "file", id: "f" }, { type: "__proto__" }]) {
      expect(refusal([block])?.message).toMatch(/^unsupported child prompt content type/)
    }
    for (const block of ["bare", null, 7, [], {}, { text: "a" }, { type: 1 }])
      expect(refusal([block])).toMatchObject({ reason: "shape", index: 0 })
  })

  it("S03 S04 S05 refuses blocks that lack what makes them whole", () => {
    const broken = [
      { type: "text" },
      { type: "text", text: 1 },
      { type: "text", txet: "a" },
      { type: "resource_link", uri: "u" },
      { type: "image", data: "aGk=" },
      { type: "image", data: "a*k=", mimeType: "image/png" },
      { type: "image", data: "aGk", mimeType: "image/png" },
      { type: "resource", resource: { uri: "u", blob: "!!" } },
      { type: "resource" },
      { type: "resource", resource: { text: "x" } },
      { type: "resource", resource: { uri: "u" } },
      { type: "resource", resource: { uri: "u", text: 1 } },
      { type: "resource", resource: { uri: "u", text: "a", blob: "aGk=" } },
    ]
    for (const block of broken)
      expect(refusal([{ type: "text", text: "first" }, block])).toMatchObject({ reason: "shape", index: 1 })
  })

  it("refuses values that are not JSON", () => {
    for (const value of [Number.NaN, Infinity, undefined, () => 1, Symbol("x"), new Date(0), new Array(1)]) {
      expect(refusal([{ type: "text", text: "a", _meta: { deep: [value] } }])).toMatchObject({ reason: "shape" })
    }
  })

  it.prop(
    "S05 gives back order, metadata, annotations and unknown fields untouched",
    [
      Schema.Array(
        Schema.Struct({
          type: Schema.Literal("text"),
          text: Schema.String,
          _meta: Schema.Json,
          annotations: Schema.Json,
          extra: Schema.Json,
        }),
      ).check(Schema.isMinLength(1)),
    ],
    ([blocks]) => {
      const admitted = admitContent(blocks as ReadonlyArray<Json>, nothing, limit)
      expect(Result.isSuccess(admitted) && admitted.success).toBe(blocks)
    },
  )

  it("refuses what needs a larger message than the agent takes, counted as it stands on the wire", () => {
    const sized = (characters: number, character = "x") =>
      Result.getFailure(admitContent([{ type: "text", text: character.repeat(characters) }], nothing, 8_192))
    expect(sized(7_000)).toEqual(Option.none())
    const message = "the message that holds the child prompt is larger than 8192 bytes; it was not sent"
    for (const [characters, character] of [
      [8_000, "x"],
      [4_000, "ä"],
      [1_500, "\u0001"],
    ] as const)
      expect(sized(characters, character)).toMatchObject({ value: { reason: "size", message } })
  })
})
