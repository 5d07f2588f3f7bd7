import { inferVendor, marksOf, type Vendor } from "@acp-kit/orchestrator/Vendor"
import { describe, expect, it } from "@effect/vitest"

const line = (text: string, isKit = false) => {
  const [command = "", ...args] = text.split(" ")
  return { command, args, isKit }
}

describe("Vendor", () => {
  it.each([
    ["npx -y @agentclientprotocol/claude-agent-acp@0.69.0", "claude"],
    ["/opt/codex-acp/bin/agent --acp", "other"],
    ["/usr/local/bin/codex-acp", "codex"],
    ["opencode acp", "opencode"],
    ["npx @github/copilot --acp", "copilot"],
    ["cursor-agent acp", "cursor"],
    ["pi-acp", "pi"],
    ["agy --acp", "antigravity"],
    ["npx antigravity", "antigravity"],
    ["kit acp", "kit"],
    ["pipeline pickit claudette", "other"],
    ["review-agent acp", "other"],
  ] as const)("S53 takes %j for %s, by whole tokens of command and arguments", (text, vendor) => {
    expect(inferVendor(line(text))).toBe(vendor)
  })

  it("S53 always takes acp.kit for Kit", () => {
    expect(inferVendor(line("npx claude-code", true))).toBe("kit")
  })

  it("S53 marks rows only where harnesses are mixed", () => {
    const rows = (...vendors: ReadonlyArray<Vendor | undefined>) =>
      vendors.map((vendor, id) => ({ id: String(id), ...(vendor === undefined ? {} : { vendor }) }))
    expect(marksOf(rows("kit", "kit")).size).toBe(0)
    const all: ReadonlyArray<Vendor> = ["kit", "claude", "codex", "opencode", "copilot", "cursor", "pi", "antigravity", "other"]
    expect([...marksOf(rows(...all, undefined)).values()].join("")).toBe("k✱◎◇◈▸π◭··")
  })
})
