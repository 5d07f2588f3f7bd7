import { SdkAgents } from "@acp-kit/testing/SdkAgents"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

describe("agents that others wrote", () => {
  it("S10 S11 S140 holds a whole conversation with the example agent of SDK 0.12", async () => {
    await kit.harness("example", SdkAgents.example)
    const value = await kit.value(`
a = subagent({ prompt: "Hello", harness: "acp.example", name: "Example" })
b = prompt({ subagent: a, prompt: "And again" })
c = close(b)
return { a, b, left: after c { return subagents({}) } }`)
    expect(value.a).toMatchObject({ name: "Example", generation: 1, output: expect.stringContaining("I'll help you with that") })
    expect(value.a.updates.items.map((item: { sessionUpdate: string }) => item.sessionUpdate)).toContain("tool_call")
    expect(value.b).toMatchObject({ id: value.a.id, generation: 2 })
    expect(value.left).toEqual([])
  })

  it("checks the example agent: version 1, no capabilities", async () => {
    await kit.harness("example", SdkAgents.example)
    const { code, out } = await kit.run(["harness", "check", "example", "--json"])
    expect(code).toBe(0)
    const report = JSON.parse(out)
    expect(report.protocolVersion).toBe(1)
    expect(Object.entries(report.capabilities).filter(([, holds]) => holds === true)).toEqual([["mcp stdio", true]])
  })

  it.each([
    ["v1", SdkAgents.v1, 1],
    ["v2", SdkAgents.v2, 2],
    ["router", SdkAgents.router, 2],
  ] as const)("S10 S11 S13 S110 talks to an agent on SDK 2.4 (%s)", async (_name, launch, version) => {
    await kit.harness("sdk", launch)
    const value = await kit.value(`
a = subagent({ prompt: "one", harness: "acp.sdk" })
b = prompt({ subagent: a, prompt: "two" })
c = close(b)
return [a.output, b.output, b.generation, c.id == a.id]`)
    expect(value).toEqual([expect.stringContaining("one"), expect.stringContaining("two"), 2, true])
    const report = JSON.parse((await kit.run(["harness", "check", "sdk", "--json"])).out)
    expect(report.protocolVersion).toBe(version)
  })
})
