import { efforts } from "@acp-kit/agent/ModelProvider"
import * as Effect from "effect/Effect"
import { command } from "../Command.ts"
import { failed } from "../CommandFailed.ts"
import { Flag } from "../Flag.ts"

/**
 * `kit acp`, for help, reference and completions. The program sends the word to another executable before it loads this package, so
 * this `run` is reached only where that executable is missing.
 */
export const acp = command({
  name: "acp",
  summary: "be an ACP agent over stdio, for editors and for parent agents",
  details: [
    "stdin and stdout carry the protocol, logs go to stderr. The process ends when its input does, or when nobody can read its output.",
  ],
  flags: {
    "protocol-version": Flag.choice({ summary: "versions of the protocol that are offered", fallback: "1" }, ["1", "2", "auto"]),
    batches: Flag.choice({ summary: "what becomes of JSON-RPC batches", fallback: "reject" }, ["reject", "jsonrpc"]),
    root: Flag.text({ placeholder: "DIR", summary: "the only working directory that sessions may have", fallback: "any" }),
    "add-dir": Flag.texts({
      placeholder: "DIR",
      summary: "a further directory of every session, beside those that the client names",
    }),
    model: Flag.text({ placeholder: "ID", summary: "the model that sessions start with", fallback: "the configuration's" }),
    provider: Flag.text({ placeholder: "NAME", summary: "the provider of models", fallback: "the configuration's" }),
    "reasoning-effort": Flag.choice({ summary: "how hard the model thinks", fallback: "the configuration's" }, efforts),
    "session-id": Flag.text({ placeholder: "ID", summary: "the id of the first session", fallback: "a new one" }),
    resume: Flag.toggle({ summary: "the first session exists already; needs --session-id" }),
    "no-session": Flag.toggle({ summary: "keep nothing on disk" }),
    "mcp-config": Flag.text({ placeholder: "FILE", summary: "MCP servers", fallback: "the configuration's" }),
    "system-prompt-file": Flag.text({ placeholder: "FILE", summary: "a text that precedes each conversation" }),
    "subagent-depth": Flag.text({ placeholder: "N", summary: "how deep this agent is nested", fallback: "0" }),
  },
  run: () => Effect.fail(failed(1, "MISSING", "the nested server is missing; install @acp-kit/kit again")),
})
