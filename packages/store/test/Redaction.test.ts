import { describe, expect, it } from "@effect/vitest"
import { redact } from "../src/Redaction.ts"

describe("redaction", () => {
  it("K04 replaces message and data of an auth error and leaves every other byte", () => {
    const frame =
      '{"jsonrpc":"2.0", "id":18446744073709551615,"error":{"data":{"methodId":"x","detail":"tok\\"en"},"code":-32000,"message":"log in with s3cret"}}'
    expect(redact(frame)).toBe(
      '{"jsonrpc":"2.0", "id":18446744073709551615,"error":{"data":"[redacted]","code":-32000,"message":"[redacted]"}}',
    )
  })

  it("keeps other errors as they are", () => {
    const frame = '{"id":1,"error":{"code":-32602,"message":"no such option","data":{"a":[1,2]}}}'
    expect(redact(frame)).toBe(frame)
  })

  it("K04 replaces the values of MCP env and headers and keeps their names", () => {
    const frame = JSON.stringify({
      method: "session/new",
      params: {
        cwd: "/p",
        mcpServers: [
          {
            name: "a",
            command: "npx",
            args: ["-y", "x"],
            env: [
              { name: "TOKEN", value: "s3cret" },
              { name: "EMPTY", value: "" },
            ],
          },
          {
            type: "http",
            name: "b",
            url: "https://x",
            headers: [{ name: "Authorization", value: "Bearer s3cret", _meta: { note: "s3cret" } }],
          },
          { name: "c", env: { KEY: "s3cret", name: "s3cret", deep: { name: "s3cret" } } },
        ],
      },
    })
    const redacted = redact(frame) as string
    expect(redacted).not.toContain("s3cret")
    const [a, b, c] = JSON.parse(redacted).params.mcpServers
    expect(a).toEqual({
      name: "a",
      command: "npx",
      args: ["-y", "x"],
      env: [
        { name: "TOKEN", value: "[redacted]" },
        { name: "EMPTY", value: "[redacted]" },
      ],
    })
    expect(b.headers).toEqual([{ name: "Authorization", value: "[redacted]", _meta: { note: "[redacted]" } }])
    expect(c.env).toEqual({ KEY: "[redacted]", name: "[redacted]", deep: { name: "[redacted]" } })
  })

  it("K04 finds them under escaped names", () => {
    expect(redact('{"mcp\\u0053ervers":[{"\\u0065nv":[{"name":"A","value":"s3cret"}]}]}')).toBe(
      '{"mcp\\u0053ervers":[{"\\u0065nv":[{"name":"A","value":"[redacted]"}]}]}',
    )
  })

  it("leaves env and headers of anything else alone", () => {
    const frame = '{"params":{"update":{"rawInput":{"env":{"A":"1"},"headers":[{"name":"B","value":"2"}]},"error":"text"}}}'
    expect(redact(frame)).toBe(frame)
  })

  it("K04 takes out what is nested too deeply to be looked through", () => {
    const nested = (levels: number, inner: string) => `${'{"a":['.repeat(levels / 2)}${inner}${"]}".repeat(levels / 2)}`
    const frame = (data: string) => `{"id":1,"error":{"code":-32602,"data":${data},"message":"s {"}}`
    const secret = '{"mcpServers":[{"env":{"KEY":"s3cret"}}]}'
    for (const levels of [600, 200_000]) {
      const redacted = redact(frame(nested(levels, secret))) ?? ""
      expect(redacted).not.toContain("s3cret")
      expect(redacted.endsWith(`"[redacted]"${"]}".repeat(255)},"message":"s {"}}`)).toBe(true)
      expect(() => JSON.parse(redacted)).not.toThrow()
    }
    expect(redact(frame(nested(400, "1")))).toBe(frame(nested(400, "1")))
    expect(redact(frame(nested(600, '"\\"]}{"')))).toContain("[redacted]")
  })

  it("says what is no JSON", () => {
    for (const frame of ["", "Welcome!", '{"mcpServers":[', "[1,]"]) expect(redact(frame)).toBeUndefined()
  })

  it("walks every kind of value", () => {
    const frame = ' { "mcpServers" : [ ] , "a" : [ true , false , null , -1.5e+3 , "x\\\\" , { } , [ [ ] ] ] } '
    expect(redact(frame)).toBe(frame)
  })
})
