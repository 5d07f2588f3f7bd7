import { Readable, Writable } from "node:stream"
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk/unstable"

/** Serves an agent of the SDK on stdin and stdout until the end of input. */
export const serve = async (agent: { connect(stream: Stream): { readonly closed: Promise<void> } }): Promise<void> => {
  const input = Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>
  await agent.connect(ndJsonStream(Writable.toWeb(process.stdout) as WritableStream<Uint8Array>, input)).closed
  process.exit(0)
}
