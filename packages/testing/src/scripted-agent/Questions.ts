import type { PermissionPreset } from "../Mood.ts"
import type { Answer } from "./Peer.ts"
import type { Play } from "./Steps.ts"
import { fields, text } from "./Value.ts"

const option = (kind: string, optionId = kind) => ({ optionId, name: kind.replaceAll("_", " "), kind })

const presets: Readonly<Record<PermissionPreset, ReadonlyArray<unknown>>> = {
  usual: [option("allow_once"), option("allow_always"), option("reject_once"), option("reject_always")],
  once: [option("reject_once", "no"), option("allow_once", "yes"), option("allow_once", "yes-too")],
  always: [option("allow_always", "always")],
  "reject-only": [option("reject_once"), option("reject_always")],
  empty: [],
  unknown: [option("_other"), option("allow_session")],
}

const chosen = (answer: Answer): string => {
  if (answer.kind !== "result") return answer.kind === "withdrawn" ? "withdrawn" : `error ${JSON.stringify(answer.error)}`
  const outcome = fields(fields(answer.result).outcome)
  return text(outcome.optionId) ?? text(outcome.outcome) ?? JSON.stringify(answer.result)
}

/** Steps that ask the client; they say what it answered, unless the turn was cancelled meanwhile. */
export const questions: Readonly<Record<string, Play>> = {
  permission: async (stage, value) => {
    const asked = typeof value === "string" ? { options: value } : fields(value)
    const wanted = asked.options ?? "usual"
    const options = typeof wanted === "string" ? (presets[wanted as PermissionPreset] ?? []) : wanted
    const toolCall = asked.toolCall ?? { toolCallId: "permitted", title: "Run a command", kind: "execute", status: "pending" }
    const sessionId = stage.session?.id
    const request = stage.peer.request(
      "session/request_permission",
      stage.version === 1
        ? { sessionId, toolCall, options }
        : { sessionId, title: asked.title ?? "Run a command?", subject: { type: "tool_call", toolCall }, options },
    )
    if (asked.forget === true) return
    const answer = await request
    if (!stage.over) await stage.say(`permission: ${chosen(answer)}`)
  },
  elicit: async (stage, value) => {
    const asked = typeof value === "string" ? { mode: value } : fields(value)
    const mode = asked.mode ?? "form"
    const answer = await stage.peer.request("elicitation/create", {
      sessionId: stage.session?.id,
      mode,
      message: asked.message ?? "Your name?",
      ...(mode === "url"
        ? { url: asked.url ?? "https://example.invalid/", elicitationId: "elicitation" }
        : {
            requestedSchema: asked.requestedSchema ?? { type: "object", properties: { name: { type: "string" } } },
          }),
    })
    const action = answer.kind === "result" ? text(fields(answer.result).action) : undefined
    if (!stage.over) await stage.say(`elicitation: ${action ?? JSON.stringify(answer)}`)
  },
  request: async (stage, value) => {
    const { method, params } = fields(value)
    const answer = await stage.peer.request(String(method), params)
    const said = answer.kind === "result" ? answer.result : answer.kind === "error" ? answer.error : answer.kind
    if (!stage.over) await stage.say(`answer: ${JSON.stringify(said)}`)
  },
}
