import { advertisedMethodIds, methodIds, readCapabilities } from "@acp-kit/protocol/Capabilities"
import { describe, expect, it } from "@effect/vitest"

describe("Capabilities", () => {
  it("S03 S04 S31 reads the markers of version 1, booleans and objects", () => {
    const raw = {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true },
      sessionCapabilities: {
        close: {},
        delete: null,
        fork: {},
        list: {},
        additionalDirectories: {},
        inject: { modes: ["steer"] },
      },
      unknown: { kept: 12345678901234567890n },
    }
    expect(readCapabilities(1, { agentCapabilities: raw })).toEqual({
      version: 1,
      image: true,
      audio: false,
      embeddedContext: true,
      fork: true,
      close: true,
      delete: false,
      load: true,
      list: true,
      additionalDirectories: true,
      steer: false,
      mcp: { stdio: true, http: true, sse: false },
      raw,
    })
  })

  it("S03 S04 S31 reads the markers of version 2; session implies close, load and list; steer needs its mode", () => {
    const read = (session: object) => readCapabilities(2, { capabilities: { session: session as never } })
    expect(read({})).toMatchObject({
      close: true,
      load: true,
      list: true,
      fork: false,
      delete: false,
      image: false,
      steer: false,
    })
    expect(read({ prompt: { image: {}, embeddedContext: null } })).toMatchObject({ image: true, embeddedContext: false })
    expect(read({ inject: { modes: ["steer"], steerInStream: ["finish"] } }).steer).toBe(true)
    expect(read({ inject: { modes: ["queue"] } }).steer).toBe(false)
    expect(read({ inject: {} }).steer).toBe(false)
    expect(read({ mcp: { stdio: {} } }).mcp).toEqual({ stdio: true, http: false, sse: false })
  })

  it("S123 names login methods of both versions: visible ASCII, short, few, sorted, once", () => {
    expect(
      advertisedMethodIds({
        authMethods: [{ id: "b" }, { methodId: "a" }, { id: "b" }, { id: "ä" }, { id: "x y" }, { id: "" }, {}, null, { id: 1 }],
      }),
    ).toEqual(["a", "b"])
    expect(methodIds(["x".repeat(128), "y".repeat(129), "a\nb"])).toEqual(["x".repeat(128)])
    expect(methodIds(Array.from({ length: 40 }, (_, at) => `m${at}`))).toHaveLength(16)
    expect(advertisedMethodIds({ authMethods: "x" })).toEqual([])
  })
})
