import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { responsesServer } from "./ResponsesServer.ts"

/** A vendor's adapter in one binary; 223 MB, from the registry. */
export const harness = "@zed-industries/codex-acp@0.16.0"

const program = `node_modules/@zed-industries/codex-acp-${process.platform}-${process.arch}/bin/codex-acp`

/** Installs the adapter into a folder of its own, which whoever calls removes. */
export const install = (): string => {
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "kit-codex-acp-"))
  Fs.writeFileSync(Path.join(folder, "package.json"), '{"private":true}')
  spawnSync(process.execPath, ["add", "--ignore-scripts", harness], { cwd: folder, stdio: "ignore" })
  return folder
}

const config = (url: string): string => `model = "gpt-5.2"
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

/** The launch line of the installed adapter, with a home of its own and a model on the loopback; `undefined` where it could not be installed. */
export const launchLine = Effect.fnUntraced(function* (
  folder: string,
): Effect.fn.Return<readonly [string, ...Array<string>] | undefined, never, Scope.Scope> {
  const command = Path.join(folder, program)
  if (!Fs.existsSync(command)) return undefined
  const { url } = yield* responsesServer
  const home = Path.join(folder, "home")
  Fs.mkdirSync(Path.join(home, ".codex"), { recursive: true })
  Fs.writeFileSync(Path.join(home, ".codex", "config.toml"), config(url))
  return ["/usr/bin/env", `CODEX_HOME=${home}/.codex`, "MOCK_KEY=x", "NO_BROWSER=1", command]
})

export * as CodexAcp from "./CodexAcp.ts"
