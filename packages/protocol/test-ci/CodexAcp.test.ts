import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Processes } from "@acp-kit/platform/Processes"
import { CodexAcp } from "@acp-kit/testing/CodexAcp"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { startAgent, until } from "../test/support/Agents.ts"
import { text } from "../test/support/Wire.ts"

let installed = ""

beforeAll(() => {
  installed = CodexAcp.install()
}, 300_000)

afterAll(() => rmSync(installed, { recursive: true, force: true }))

describe(CodexAcp.harness, () => {
  it.live("S110 S140 S153 holds a conversation: start, prompt, a tool with permission, cancel, close", (context) =>
    Effect.gen(function* () {
      const launch = yield* CodexAcp.launchLine(installed)
      if (launch === undefined) return context.skip(`${CodexAcp.harness} could not be installed`)
      const { client, cwd, frames, noises, problems } = yield* startAgent(launch)
      expect(client).toMatchObject({ version: 1, capabilities: { close: true, load: true, fork: false, embeddedContext: true } })
      const session = yield* client.newSession({ cwd })

      const first = yield* session.prompt([text("hi")])
      expect(first.stopReason).toBe("end_turn")
      expect(first.text).toMatch(/hello from the loopback$/)

      const tool = yield* session.prompt([text("run: echo made > made.txt")])
      expect(tool.text).toMatch(/ran$/)
      expect(tool.tools).toMatchObject([{ title: "echo made > made.txt", kind: "execute", status: "completed", open: false }])
      expect(readFileSync(join(cwd, "made.txt"), "utf8")).toBe("made\n")
      const asked = frames.filter(
        ({ method, kind, direction }) => direction === "in" && kind === "request" && method === "session/request_permission",
      )
      expect(asked.map(({ id }) => id)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)])

      const hanging = yield* session.begin([text("hang")])
      yield* until(session, () => frames.some(({ line }) => line.includes("thinkin")))
      expect(yield* hanging.cancel).toBe("settled")
      expect(yield* Effect.flip(hanging.result)).toMatchObject({ _tag: "TurnFailed", reason: "cancelled" })
      expect((yield* session.prompt([text("again")])).text).toMatch(/hello from the loopback$/)

      yield* session.close
      expect(noises).toEqual([])
      expect(problems).toEqual([])
    }).pipe(Effect.provide(Processes.layer)),
  )
})
