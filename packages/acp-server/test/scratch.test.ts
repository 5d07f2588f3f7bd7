import { expect, it } from "vitest"
import { violations } from "./WireSchemas.ts"
it("x", () => {
  expect(violations(2, { jsonrpc: "2.0", id: 1, result: {} }, "session/prompt")).not.toEqual([])
  expect(violations(2, { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: { sessionUpdate: "usage_update", used: 1, size: 2 } } }, "session/update")).toEqual([])
  expect(violations(2, { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: { sessionUpdate: "usage_update", used: "a", size: 2 } } }, "session/update")).not.toEqual([])
  expect(violations(1, { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: { sessionUpdate: "usage_update", used: "a", size: 2 } } }, "session/update")).not.toEqual([])
})
