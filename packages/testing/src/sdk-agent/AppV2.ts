import * as v2 from "@agentclientprotocol/sdk/experimental/v2/unstable"

interface Session {
  readonly prompts: ReadonlyArray<string>
  readonly running?: AbortController
}

const textOf = (prompt: ReadonlyArray<v2.ContentBlock>): string =>
  prompt.flatMap((block) => (block.type === "text" ? [String(block.text)] : [])).join("\n")

/** The same agent in v2: work is reported by state updates, the prompt is answered when it was taken in. */
export const appV2 = (): v2.AgentApp => {
  const sessions = new Map<string, Session>()
  const open = (id: string, prompts: ReadonlyArray<string>) => {
    sessions.set(id, { prompts })
    return id
  }
  const known = (id: string): Session => {
    const session = sessions.get(id)
    if (session === undefined) throw v2.RequestError.resourceNotFound(id)
    return session
  }
  return v2
    .agent({ name: "sdk-agent-v2" })
    .onRequest(v2.methods.agent.initialize, () => ({
      protocolVersion: 2,
      info: { name: "sdk-agent-v2", version: "2.4.0" },
      capabilities: { session: { prompt: {}, fork: {} } },
      authMethods: [],
    }))
    .onRequest(v2.methods.agent.session.new, () => ({ sessionId: open(crypto.randomUUID(), []) }))
    .onRequest(v2.methods.agent.session.fork, ({ params }) => ({
      sessionId: open(crypto.randomUUID(), known(params.sessionId).prompts),
    }))
    .onRequest(v2.methods.agent.session.close, ({ params }) => {
      sessions.delete(known(params.sessionId) && params.sessionId)
      return {}
    })
    .onRequest(v2.methods.agent.session.prompt, async ({ params, client }) => {
      const { sessionId } = params
      const text = textOf(params.prompt)
      const { prompts } = known(sessionId)
      const running = new AbortController()
      const messageId = crypto.randomUUID()
      sessions.set(sessionId, { prompts: [...prompts, text], running })
      const update = (update: v2.SessionUpdate) => client.notify(v2.methods.client.session.update, { sessionId, update })
      const say = (said: string) =>
        update({ sessionUpdate: "agent_message_chunk", messageId: `${messageId}-answer`, content: { type: "text", text: said } })
      const work = async () => {
        await update({ sessionUpdate: "user_message", messageId, content: params.prompt })
        await update({ sessionUpdate: "state_update", state: "running" })
        if (text === "wait") {
          await say("waiting")
          await new Promise((resolve) => running.signal.addEventListener("abort", resolve))
          return await update({ sessionUpdate: "state_update", state: "idle", stopReason: "cancelled" })
        }
        if (text === "permission") {
          await update({ sessionUpdate: "state_update", state: "requires_action" })
          const { outcome } = await client.request(v2.methods.client.session.requestPermission, {
            sessionId,
            title: "Touch a file",
            subject: {
              type: "tool_call",
              toolCall: { toolCallId: "asked", title: "Touch a file", kind: "edit", status: "pending" },
            },
            options: [
              { optionId: "once", name: "Allow", kind: "allow_once" },
              { optionId: "always", name: "Always", kind: "allow_always" },
            ],
          })
          await update({ sessionUpdate: "state_update", state: "running" })
          await say(outcome.outcome === "selected" ? String(outcome.optionId) : outcome.outcome)
        } else await say(text === "recall" ? JSON.stringify(prompts) : `echo: ${text}`)
        return await update({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" })
      }
      setImmediate(() => void work().catch(() => {}))
      return { messageId }
    })
    .onNotification(v2.methods.agent.session.cancel, ({ params }) => {
      sessions.get(params.sessionId)?.running?.abort()
    })
}
