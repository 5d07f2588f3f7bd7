import type { Message } from "../Agent.ts"
import { expect, given, type Rule, rule } from "../Rule.ts"
import { strangers } from "../Schemas.ts"

const isWhole = ({ jsonrpc, id, method, result, error }: Message) => {
  if (jsonrpc !== "2.0") return false
  if (method !== undefined) return typeof method === "string" && result === undefined && error === undefined
  return id !== undefined && (result === undefined) !== (error === undefined)
}

const clientMethods =
  /^(session\/(update|request_permission)|elicitation\/(create|complete)|mcp\/message|auth\/status_update|\$\/cancel_request|_)/

const errorOf = async (lab: Parameters<Rule["check"]>[0]) => (await (await lab.ready()).call("session/no_such_method")).error

export const rules: ReadonlyArray<Rule> = [
  rule("SCHEMA-001", "mandatory", [1, 2], "the whole exchange of initialize, new and prompt is valid", async (lab) => {
    const found = (await lab.quick()).agent.violations()
    expect(found.length === 0, found.slice(0, 3).join("; "))
  }),
  rule(
    "SCHEMA-002",
    "advisory",
    [1, 2],
    "no result or parameter has keys at its root that the schema does not name",
    async (lab) => {
      const { agent } = await lab.quick()
      const found = agent.messages.flatMap((message) =>
        message.method === "session/update" ? strangers(lab.version, message, message.method) : [],
      )
      expect(found.length === 0, found.join(", "))
    },
  ),
  rule("TRANSPORT-201", "mandatory", [1, 2], "every line of stdout is one JSON-RPC 2.0 message", async (lab) => {
    const { agent } = await lab.quick()
    expect(agent.broken.length === 0, `not JSON: ${agent.broken[0]}`)
    const odd = agent.messages.find((message) => !isWhole(message))
    expect(odd === undefined, JSON.stringify(odd))
  }),
  rule("TRANSPORT-002", "mandatory", [1, 2], "stdout is UTF-8", async (lab) => {
    const strict = new TextDecoder("utf-8", { fatal: true })
    for (const line of (await lab.quick()).agent.lines) {
      try {
        strict.decode(line)
      } catch {
        expect(false, line.toString("latin1").slice(0, 80))
      }
    }
  }),
  rule("TRANSPORT-203", "mandatory", [1, 2], "a message is one line", async (lab) => {
    const { agent } = await lab.quick()
    expect(
      agent.lines.every((line) => line.length > 0 && !line.includes(13)),
      "an empty line, or a carriage return",
    )
  }),
  rule("JSONRPC-001", "mandatory", [1, 2], "an answer has the id of its request, number or string", async (lab) => {
    const agent = await lab.ready()
    for (const id of [1001, "str-1"])
      expect((await agent.call("session/new", { cwd: lab.subject.cwd, mcpServers: [] }, id)).id === id, `${id}`)
  }),
  rule(
    "JSONRPC-002",
    "mandatory",
    [1, 2],
    "an error has a whole number for a code and a text for a message, and no result beside it",
    async (lab) => {
      const error = await errorOf(lab)
      expect(Number.isInteger(error?.code) && typeof error?.message === "string", JSON.stringify(error))
    },
  ),
  rule("JSONRPC-003", "mandatory", [1, 2], "a notification is never answered", async (lab) => {
    const agent = await lab.ready()
    const before = agent.messages.length
    agent.notify("_conformance/unknown", {})
    agent.notify("session/cancel", { sessionId: "nobody" })
    await agent.call("session/new", { cwd: lab.subject.cwd, mcpServers: [] })
    const answers = agent.messages.slice(before).filter((message) => !("method" in message))
    expect(answers.length === 1, `${answers.length} answers to one request`)
  }),
  rule("JSONRPC-004", "advisory", [1, 2], "an unknown method is -32601", async (lab) => {
    expect((await errorOf(lab))?.code === -32601, JSON.stringify(await errorOf(lab)))
  }),
  rule("JSONRPC-005", "advisory", [1, 2], "the connection survives bad messages", async (lab) => {
    const agent = await lab.ready()
    agent.raw('{ nonsense\n[17,true,null]\n"text"\n{"jsonrpc":"2.0","id":9,"method":7}\n')
    agent.raw(new Uint8Array([0x22, 0xff, 0xfe, 0x22, 0x0a]))
    const { sessionId } = await lab.newSession(agent)
    expect(typeof sessionId === "string", "no session")
  }),
  rule("BATCH-201", "mandatory", [2], "an empty array is one error without an id", async (lab) => {
    const agent = await lab.ready()
    const before = agent.messages.length
    agent.raw("[]\n")
    const answer = await agent.until("answer to []", () => agent.messages[before])
    expect(answer.id === null && answer.error?.code === -32600, JSON.stringify(answer))
  }),
  rule("BATCH-202", "mandatory", [2], "a batch of notifications is met with silence", async (lab) => {
    given(lab.subject.batches, "batches are refused, as the SDK's revision of version 2 asks")
    const agent = await lab.ready()
    agent.raw(`${JSON.stringify([{ jsonrpc: "2.0", method: "_conformance/unknown" }])}\n`)
    expect((await agent.quiet()).length === 0, "an answer")
  }),
  rule("BATCH-203", "advisory", [2], "bad entries of a batch get an error each", async (lab) => {
    given(lab.subject.batches, "batches are refused, as the SDK's revision of version 2 asks")
    const agent = await lab.ready()
    const before = agent.lines.length
    agent.raw("[17,true,null]\n")
    const answers = JSON.parse(String(await agent.until("answers", () => agent.lines[before])))
    expect(
      Array.isArray(answers) && answers.length === 3 && answers.every(({ error }) => error?.code === -32600),
      JSON.stringify(answers),
    )
  }),
  rule("BATCH-204", "advisory", [2], "the requests of a batch are answered in one array, by id", async (lab) => {
    given(lab.subject.batches, "batches are refused, as the SDK's revision of version 2 asks")
    const agent = await lab.ready()
    const before = agent.lines.length
    const request = (id: string) => ({
      jsonrpc: "2.0",
      id,
      method: "session/new",
      params: { cwd: lab.subject.cwd, mcpServers: [] },
    })
    agent.raw(`${JSON.stringify([request("a"), { jsonrpc: "2.0", method: "_conformance/unknown" }, request("b")])}\n`)
    const answers = JSON.parse(String(await agent.until("answers", () => agent.lines[before])))
    expect(
      Array.isArray(answers) &&
        answers
          .map(({ id }) => id)
          .sort()
          .join() === "a,b",
      JSON.stringify(answers),
    )
  }),
  rule("BATCH-209", "informational", [2], "where batches are refused, one is one error without an id", async (lab) => {
    given(!lab.subject.batches, "batches are taken")
    const agent = await lab.ready()
    agent.raw(`${JSON.stringify([{ jsonrpc: "2.0", method: "_conformance/unknown" }])}\n`)
    const [answer, ...more] = await agent.quiet()
    expect(answer?.id === null && answer.error?.code === -32600 && more.length === 0, JSON.stringify(answer))
  }),
  rule("ERROR-001", "advisory", [1, 2], "an error message is one line and not empty", async (lab) => {
    const { message } = (await errorOf(lab)) ?? {}
    expect(message && !/[\r\n]/.test(message), JSON.stringify(message))
  }),
  rule("EXT-001", "mandatory", [1, 2], "an extension request is answered", async (lab) => {
    const answer = await (await lab.ready()).call("_conformance/anything", { a: 1 })
    expect("result" in answer || "error" in answer, JSON.stringify(answer))
  }),
  rule("EXT-201", "advisory", [1, 2], "an extension notification is ignored", async (lab) => {
    const agent = await lab.ready()
    agent.notify("_conformance/anything", { a: 1 })
    expect((await agent.quiet()).length === 0, "an answer")
  }),
  rule("META-001", "advisory", [1, 2], "_meta on a prompt is accepted", async (lab) => {
    const agent = await lab.ready()
    const { sessionId } = await lab.newSession(agent)
    const { answer } = await lab.turn(agent, sessionId, lab.subject.prompts.quick, { _meta: { "conformance/x": 1 } })
    expect("result" in answer, JSON.stringify(answer.error))
  }),
  rule("META-201", "advisory", [1, 2], "_meta of the agent is an object or null", async (lab) => {
    const { agent } = await lab.quick()
    const found = agent.messages.flatMap(({ params, result }) => [params?._meta, params?.update?._meta, result?._meta])
    expect(
      found.every((meta) => meta === undefined || meta === null || (typeof meta === "object" && !Array.isArray(meta))),
      "another kind",
    )
  }),
  rule("CLIENTCAP-201", "capability", [1, 2], "nothing is elicited from a client that does not offer it", async (lab) => {
    const { agent } = await lab.quick()
    expect(
      agent.messages.every(({ method }) => method !== "elicitation/create"),
      "elicitation/create",
    )
  }),
  rule("CLIENTCAP-202", "capability", [1, 2], "no file or terminal of the client is used that was not offered", async (lab) => {
    const { agent } = await lab.quick()
    const odd = agent.messages.find(({ method }) => method !== undefined && !clientMethods.test(method))
    expect(odd === undefined, odd?.method)
  }),
  rule(
    "SHUTDOWN-001",
    "advisory",
    [1, 2],
    "the agent leaves by itself within two seconds of the end of input, at work too",
    async (lab) => {
      const idle = await lab.ready()
      expect((await idle.leave(2000)) !== undefined, "it stays when it is idle")
      if (lab.subject.prompts.slow === undefined) return
      const busy = await lab.ready()
      const { sessionId } = await lab.newSession(busy)
      await lab.slow(busy, sessionId)
      expect((await busy.leave(2000)) !== undefined, "it stays when it is at work")
    },
  ),
]
