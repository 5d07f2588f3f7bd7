import * as Fs from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"

type Event = { readonly type: string } & Readonly<Record<string, unknown>>

const send = (response: ServerResponse, events: ReadonlyArray<Event>): void => {
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

const words = (text: string, id: string): ReadonlyArray<Event> => {
  const item = { type: "message", role: "assistant", id }
  return [
    { type: "response.output_item.added", item: { ...item, content: [] } },
    ...(text.match(/.{1,7}/gs) ?? []).map((delta) => ({ type: "response.output_text.delta", delta })),
    { type: "response.output_item.done", item: { ...item, content: [{ type: "output_text", text }] } },
  ]
}

const usage = { input_tokens: 10, input_tokens_details: null, output_tokens: 5, output_tokens_details: null, total_tokens: 15 }

/**
 * A model on the loopback that speaks OpenAI's Responses: `run: COMMAND` calls `exec_command` outside of the sandbox, `hang` starts to answer
 * and never ends, and creates the file that it names, if any; what a tool put out is answered with `ran`, `in JSON` with `{"answer":42}`, `recall` with the word that followed `remember` anywhere
 * before, all else with `hello from the loopback`. Gives its base URL.
 */
export const responsesServer = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    let count = 0
    const answer = (
      input: ReadonlyArray<{ readonly type?: string; readonly role?: string; readonly content?: unknown }>,
      response: ServerResponse,
    ): void => {
      const id = `resp_${++count}`
      const last = input.findLast(({ role, type }) => role === "user" || type === "function_call_output")
      const text = JSON.stringify(last?.content ?? "")
      const command = /run: ([^"\\]+)/.exec(text)?.[1]
      response.writeHead(200, { "content-type": "text/event-stream" })
      send(response, [{ type: "response.created", response: { id } }])
      if (text.includes("hang")) {
        send(response, words("thinking", id).slice(0, -1))
        const file = /hang: ([^"\\]+)/.exec(text)?.[1]
        if (file !== undefined) Fs.writeFileSync(file, "")
        return
      }
      if (last?.type === "function_call_output") send(response, words("ran", id))
      else if (text.includes("in JSON")) send(response, words('{"answer":42}', id))
      else if (text.includes("recall")) send(response, words(/remember (\w+)/.exec(JSON.stringify(input))?.[1] ?? "nothing", id))
      else if (command === undefined) send(response, words("hello from the loopback", id))
      else {
        const call = { cmd: command, sandbox_permissions: "require_escalated", justification: "May I?" }
        const item = { type: "function_call", call_id: `call_${count}`, name: "exec_command", arguments: JSON.stringify(call) }
        send(response, [{ type: "response.output_item.done", item }])
      }
      send(response, [{ type: "response.completed", response: { id, usage } }])
      response.end()
    }
    const server = createServer((request, response) => {
      let body = ""
      request.on("data", (piece) => {
        body += piece
      })
      request.on("end", () => {
        if (request.url?.endsWith("/responses") === true) answer(JSON.parse(body).input, response)
        else response.writeHead(200, { "content-type": "application/json" }).end('{"data":[]}')
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      const close = () => {
        server.closeAllConnections()
        server.close()
      }
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/v1`, close }))
    })
  }),
  ({ close }) => Effect.sync(close),
)
