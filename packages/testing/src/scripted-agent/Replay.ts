import type { Stage } from "./Stage.ts"
import { perform } from "./Steps.ts"

/** Tells the history of the stage's session again, in the words of its version. */
export const replay = async (stage: Stage): Promise<void> => {
  const { session, version, mood } = stage
  if (session === undefined) return
  if (mood.replay?.steps !== undefined) return void (await perform(stage, mood.replay.steps))
  for (const { messageId, prompt, answer } of session.history) {
    const said = { type: "text", text: answer }
    if (version === 1) {
      for (const block of prompt) await stage.chunk(block, messageId, "user_message_chunk")
      await stage.chunk(said, `${messageId}-answer`)
    } else {
      await stage.update({ sessionUpdate: "user_message", messageId, content: prompt })
      await stage.update({ sessionUpdate: "agent_message", messageId: `${messageId}-answer`, content: [said] })
    }
  }
  if (version !== 1) await stage.update({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" })
}
