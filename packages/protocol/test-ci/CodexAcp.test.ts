import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Processes } from "@acp-kit/platform/Processes"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { startAgent, until } from "../test/support/Agents.ts"
import { text } from "../test/support/Wire.ts"
import { responsesServer } from "./ResponsesServer.ts"

const harness = "@zed-industries/codex-acp@0.16.0"
const program = `node_modules/@zed-industries/codex-acp-${process.platform}-${process.arch}/bin/codex-acp`

let installed = ""

beforeAll(() => {
  installed = mkdtempSync(join(tmpdir(), "kit-codex-acp-"))
  writeFileSync(join(installed, "package.json"), '{"private":true}')
  spawnSync(process.execPath, ["add", "--ignore-scripts", harness], { cwd: installed, stdio: "ignore" })
}, 300_000)

afterAll(() => rmSync(installed, { recursive: true, force: true }))

const config = (url: string): string => `model = "loopback"
model_provider = "loopback"
sandbox_mode = "workspace-write"
approval_policy = "on-request"

[model_providers.loopback]
name = "loopback"
base_url = "${url}"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 1

[analytics]
enabled = false
`

describe(harness, () => {
  it.live("S110 S140 S153 holds a conversation: start, prompt, a tool with permission, cancel, close", (context) =>
    Effect.gen(function* () {
      const command = join(installed, program)
      if (!existsSync(command)) return context.skip(`${harness} could not be installed`)
      const { url } = yield* responsesServer
      const home = join(installed, "home")
      mkdirSync(join(home, ".codex"), { recursive: true })
      writeFileSync(join(home, ".codex", "config.toml"), config(url))
      const launch = ["/usr/bin/env", `CODEX_HOME=${home}/.codex`, "MOCK_KEY=x", "NO_BROWSER=1", command]
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
