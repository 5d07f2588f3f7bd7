import * as v1 from "@agentclientprotocol/sdk/unstable"

interface Session {
  readonly prompts: ReadonlyArray<string>
  readonly running?: AbortController
}

/** The texts of a prompt's text blocks, one per line. */
const textOf = (prompt: ReadonlyArray<v1.ContentBlock>): string =>
  prompt.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

/** An ACP v1 agent as the SDK wants it written: `permission` asks, `wait` waits for a cancel, `recall` tells the prompts so far, all else is echoed. */
export const appV1 = (): v1.AgentApp => {
  const sessions = new Map<string, Session>()
  const open = (id: string, prompts: ReadonlyArray<string>) => {
    sessions.set(id, { prompts })
    return id
  }
  const known = (id: string): Session => {
    const session = sessions.get(id)
    if (session === undefined) throw v1.RequestError.resourceNotFound(id)
    return session
  }
  return v1
    .agent({ name: "sdk-agent-v1" })
    .onRequest(v1.methods.agent.initialize, () => ({
      protocolVersion: 1,
      agentInfo: { name: "sdk-agent-v1", version: "2.4.0" },
      agentCapabilities: { sessionCapabilities: { close: {}, fork: {} } },
      authMethods: [],
    }))
    .onRequest(v1.methods.agent.session.new, () => ({ sessionId: open(crypto.randomUUID(), []) }))
    .onRequest(v1.methods.agent.session.fork, ({ params }) => ({
      sessionId: open(crypto.randomUUID(), known(params.sessionId).prompts),
    }))
    .onRequest(v1.methods.agent.session.close, ({ params }) => {
      sessions.delete(known(params.sessionId) && params.sessionId)
      return {}
    })
    .onRequest(v1.methods.agent.session.prompt, async ({ params, client }) => {
      const { sessionId } = params
      const text = textOf(params.prompt)
      const { prompts } = known(sessionId)
      const running = new AbortController()
      sessions.set(sessionId, { prompts: [...prompts, text], running })
      const say = (said: string) =>
        client.notify(v1.methods.client.session.update, {
          sessionId,
          update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: said } },
        })
      if (text === "wait") {
        await say("waiting")
        await new Promise((resolve) => running.signal.addEventListener("abort", resolve))
        return { stopReason: "cancelled" }
      }
      if (text === "permission") {
        const { outcome } = await client.request(v1.methods.client.session.requestPermission, {
          sessionId,
          toolCall: { toolCallId: "asked", title: "Touch a file", kind: "edit", status: "pending" },
          options: [
            { optionId: "once", name: "Allow", kind: "allow_once" },
            { optionId: "always", name: "Always", kind: "allow_always" },
          ],
        })
        await say(outcome.outcome === "selected" ? outcome.optionId : outcome.outcome)
      } else await say(text === "recall" ? JSON.stringify(prompts) : `echo: ${text}`)
      return { stopReason: "end_turn" }
    })
    .onNotification(v1.methods.agent.session.cancel, ({ params }) => {
      sessions.get(params.sessionId)?.running?.abort()
    })
}
