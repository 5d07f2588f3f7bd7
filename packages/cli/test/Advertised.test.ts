import { Advertised } from "@acp-kit/cli/Advertised"
import { expect, it } from "@effect/vitest"

it("names what a harness advertises beyond what Kit uses, whatever its shape", () => {
  const session = { fork: {}, close: {}, resume: {}, list: null }
  expect(
    Advertised.unused(1, {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true, video: {} },
      mcpCapabilities: { http: true, acp: false },
      sessionCapabilities: session,
      auth: { logout: {} },
      _meta: { a: { b: { c: { d: 1 } } } },
    }),
  ).toEqual(["promptCapabilities.video", "sessionCapabilities.resume", "auth.logout", "_meta.a.b.c"])
  expect(Advertised.unused(2, { session: {} })).toEqual([])
  expect(
    Advertised.unused(2, {
      session: { inject: { modes: ["steer"], pending: { replace: true } }, prompt: { image: {} }, mcp: { stdio: {}, sse: {} } },
      providers: [],
    }),
  ).toEqual(["session.mcp.sse", "providers"])
})
