import * as Package from "@acp-kit/orchestrator"
import { Config } from "@acp-kit/orchestrator/Config"
import { Names } from "@acp-kit/orchestrator/Names"
import * as Effect from "effect/Effect"

const settings = await Effect.runPromise(
  Config.decode("config.toml", '[subagent]\nharness = "acp.codex"\n\n[acp.codex]\ncommand = "codex-acp"\n'),
)
const name = Names.allocate("Reviewer", ["reviewer"], 32)
console.log(
  settings.warnings.length === 0 && name === "Reviewer 2" && "Subagents" in Package ? "ok" : JSON.stringify([settings, name]),
)
