import * as Package from "@acp-kit/acp-server"
import { AcpServer } from "@acp-kit/acp-server/AcpServer"
import { TransportClosed } from "@acp-kit/protocol/Transport"
import * as Effect from "effect/Effect"

const request = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } }
const input = [new TextEncoder().encode(`${JSON.stringify(request)}\n`), undefined]
const written: Array<string> = []

await Effect.runPromise(
  AcpServer.serve(
    {
      read: Effect.sync(() => input.shift()),
      write: (frame) => Effect.sync(() => void written.push(frame)),
      end: Effect.void,
      closed: Effect.succeed(new TransportClosed({ reason: "eof", exitCode: undefined, signal: undefined, stderrTail: "" })),
    },
    { protocol: 1, info: { name: "runtime-tests", version: "0" }, sessions: Effect.never },
  ),
)
const answer = JSON.parse(written.join(""))
console.log(answer.result?.protocolVersion === 1 && "AcpServer" in Package ? "ok" : JSON.stringify(answer))
