import * as Package from "@acp-kit/protocol"
import { connect } from "@acp-kit/protocol/AgentClient"
import { parseJson } from "@acp-kit/protocol/Json"
import { TransportClosed } from "@acp-kit/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"

/** An agent of version 1 in this process that knows `initialize` and nothing else. */
const program = Effect.gen(function* () {
  const toKit = yield* Queue.unbounded<Uint8Array>()
  const client = yield* connect(
    {
      read: Queue.take(toKit),
      write: (frame) => {
        const { id } = parseJson(frame) as { readonly id: number }
        const result = { protocolVersion: 1, agentCapabilities: { promptCapabilities: { image: true } } }
        return Effect.asVoid(Queue.offer(toKit, new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`)))
      },
      end: Effect.void,
      closed: Effect.map(
        Effect.never,
        () => new TransportClosed({ reason: "eof", exitCode: 0, signal: undefined, stderrTail: "" }),
      ),
    },
    {
      info: { name: "runtime-tests", version: "0" },
      offer: 2,
      limits: {
        lineBytes: 1 << 20,
        items: 64,
        itemBytes: 65536,
        answerBytes: 65536,
        orphans: 8,
        orphanBytes: 65536,
        settle: "5 seconds",
        steer: "5 seconds",
        fork: "5 seconds",
        close: "5 seconds",
        delete: "5 seconds",
        drain: "1 second",
      },
    },
  )
  return client.version
})

const version = await Effect.runPromise(Effect.scoped(program))
console.log(version === 1 && "AgentClient" in Package ? "ok" : String(version))
