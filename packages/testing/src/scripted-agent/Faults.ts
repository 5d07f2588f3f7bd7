import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import type { Play } from "./Steps.ts"
import { fields, text } from "./Value.ts"

const FLOOD_WRITE = 64 * 1024

const frame = (sessionId: string | undefined, messageId: string, said: string): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    method: "session/update",
    params: {
      sessionId,
      update: { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text: said } },
    },
  })

/** Steps that no well-behaved agent takes. */
export const faults: Readonly<Record<string, Play>> = {
  flood: async (stage, value, step) => {
    const { wire } = stage.peer
    const filler = "x".repeat(Number(step.bytes ?? 16))
    wire.event("flood", value)
    let batch = ""
    for (let n = 0; n < Number(value) && !stage.over; n++) {
      batch += `${frame(stage.session?.id, stage.messageId, filler)}\n`
      if (batch.length < FLOOD_WRITE) continue
      await wire.bytes(Buffer.from(batch))
      batch = ""
    }
    await wire.bytes(Buffer.from(batch))
  },
  line: (stage, value) => stage.peer.wire.line(String(value)),
  raw: (stage, value) => stage.peer.wire.bytes(Buffer.from(String(value))),
  base64: (stage, value) => stage.peer.wire.bytes(Buffer.from(String(value), "base64")),
  badUtf8: async (stage) => {
    const [head, tail] = frame(stage.session?.id, stage.messageId, "bad: !").split("!")
    stage.peer.wire.event("badUtf8")
    await stage.peer.wire.bytes(Buffer.concat([Buffer.from(head ?? ""), Buffer.from([0xc3, 0x28]), Buffer.from(`${tail}\n`)]))
  },
  longLine: async (stage, value) => {
    stage.peer.wire.event("longLine", value)
    await stage.peer.wire.bytes(Buffer.from(`${frame(stage.session?.id, stage.messageId, "x".repeat(Number(value)))}\n`))
  },
  stderr: async (_, value, step) => {
    const line = Buffer.from(`${String(value)}\n`)
    for (let n = 0; n < Number(step.times ?? 1); n++) Fs.writeSync(2, line)
  },
  grandchild: async (stage, value) => {
    const { leaves, stubborn, holdsPipes, babbles, pidFile } = fields(value)
    const deaf = stubborn === true ? 'trap "" TERM INT HUP; ' : ""
    const work = babbles === true ? "while echo babble; do sleep 0.02; done" : "exec sleep 3600"
    const inherited = (holds: boolean) => (holds ? "inherit" : "ignore")
    const child = ChildProcess.spawn("sh", ["-c", `${deaf}${work}`], {
      detached: leaves === true,
      stdio: [
        "ignore",
        inherited(holdsPipes === true || babbles === true),
        inherited(holdsPipes === true || holdsPipes === "stderr"),
      ],
    })
    child.unref()
    stage.peer.wire.event("grandchild", child.pid)
    const file = text(pidFile)
    if (file !== undefined) Fs.appendFileSync(file, `${child.pid}\n`)
  },
  exit: async (stage, value, step) => {
    if (step.abrupt !== true) await stage.peer.wire.release()
    stage.peer.wire.event("exit", value)
    process.exit(Number(value))
  },
  signal: async (stage, value) => {
    await stage.peer.wire.flushed
    stage.peer.wire.event("signal", value)
    process.kill(process.pid, String(value) as NodeJS.Signals)
    await new Promise(() => {})
  },
  closeOutput: (stage) => stage.peer.wire.close(),
  stopReading: async () => {
    process.stdin.pause()
    setInterval(() => {}, 1 << 30)
  },
}
