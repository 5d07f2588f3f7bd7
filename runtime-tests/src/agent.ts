import * as Package from "@acp-kit/agent"
import { ScriptedProvider } from "@acp-kit/agent/ScriptedProvider"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const parts = await Effect.runPromise(
  Stream.runCollect(
    ScriptedProvider.make().stream({
      items: [{ type: "prompt", id: "m-1", content: [{ type: "text", text: "hello" }] }],
      system: "",
      tools: [],
      model: "scripted",
      effort: "default",
      attempt: 0,
    }),
  ),
)
const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
console.log(text === "echo: hello" && "TurnLoop" in Package ? "ok" : JSON.stringify(parts))
