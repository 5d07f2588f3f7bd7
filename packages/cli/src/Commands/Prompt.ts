import { efforts } from "@acp-kit/agent/ModelProvider"
import * as Effect from "effect/Effect"
import { command } from "../Command.ts"
import { ConfigFile } from "../ConfigFile.ts"
import { Directories } from "../Directories.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"
import { Program } from "../Program.ts"
import { Terminal } from "../Terminal.ts"

/** `kit prompt TEXT`: one turn of the Kit agent. */
export const prompt = command({
  name: "prompt",
  summary: "ask the Kit agent, which writes and runs programs of its own",
  details: [
    "The answer goes to stdout as it comes. The programs that the agent runs go to stderr, whose last line names the session. The command ends when nothing of them goes on in the background any more.",
    "With --session the conversation goes on, in its own directory and with its own model unless a flag says otherwise.",
  ],
  parameters: { TEXT: Flag.required("what the agent is asked; - reads it from standard input") },
  flags: {
    session: Flag.text({ placeholder: "ID", summary: "go on with this session", fallback: "a new one" }),
    ...Directories.flags,
    model: Flag.text({
      placeholder: "ID",
      summary: "the model that answers",
      fallback: "the session's, else the configuration's",
    }),
    provider: Flag.text({ placeholder: "NAME", summary: "the provider of models", fallback: "the configuration's" }),
    "reasoning-effort": Flag.choice(
      { summary: "how hard the model thinks", fallback: "the session's, else the configuration's" },
      efforts,
    ),
    json: Flag.toggle({ summary: "print {session, answer, stop} at the end in place of the answer as it comes" }),
  },
  examples: [
    { line: 'prompt "Which files changed since main?"', does: "one turn in a new session" },
    { line: 'prompt --session ID "Fix the first one."', does: "goes on with the conversation" },
  ],
  run: Effect.fnUntraced(function* ({ parameters, flags, config }) {
    const terminal = yield* Terminal.Service
    const text = yield* Program.promptOf(parameters.TEXT)
    const settings = yield* ConfigFile.load(config)
    const { session, root, model, provider, json } = flags
    const { run } = yield* Effect.promise(() => import("../PromptTurn.ts"))
    const effort = flags["reasoning-effort"]
    const asked = {
      prompt: text,
      settings,
      config,
      session,
      root,
      addDirs: flags["add-dir"],
      model,
      provider,
      effort,
      quiet: json,
    }
    const answered = yield* run(asked)
    const stop = answered.stop.reason
    if (stop === "max_tokens") yield* terminal.err("kit: the answer was cut off at the model's limit\n")
    if (json) yield* Output.value({ session: answered.session, answer: answered.answer, stop }, true)
    return 0 as const
  }),
})
