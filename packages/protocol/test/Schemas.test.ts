import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { schemaWatch } from "./support/Schemas.ts"
import { connected, initializedV1, initializedV2, makeWire, state, text, update } from "./support/Wire.ts"

const every = {
  close: {},
  delete: {},
  fork: {},
  list: {},
  additionalDirectories: {},
  inject: { modes: ["steer"] },
  prompt: { image: {}, embeddedContext: {} },
}

const agents: Readonly<Record<1 | 2, JsonObject>> = {
  1: initializedV1({ loadSession: true, promptCapabilities: { image: true, embeddedContext: true }, sessionCapabilities: every }),
  2: initializedV2(every),
}

it.effect.each([1, 2] as const)("every frame that is sent on version %d validates against the SDK's schemas", (version) =>
  Effect.gen(function* () {
    const wire = yield* makeWire
    const watch = schemaWatch(() => version)
    const client = yield* connected(wire, agents[version], { observe: watch.observe })
    const call = <A, E>(effect: Effect.Effect<A, E>, method: string, answer: Json = {}) =>
      Effect.gen(function* () {
        const calling = yield* Effect.forkChild(effect, { startImmediately: true })
        yield* wire.answer(method, answer)
        return yield* Fiber.join(calling)
      })
    const server =
      version === 1 ? { name: "fs", command: "/bin/x", args: [], env: [] } : { type: "stdio", name: "fs", command: "/bin/x" }
    const remote =
      version === 1 ? { type: "http", name: "h", url: "http://x", headers: [] } : { type: "http", name: "h", url: "http://x" }
    const folders = { cwd: "/p", additionalDirectories: ["/q"], mcpServers: [server, remote], meta: { a: 1 } }
    const session = yield* call(client.newSession(folders), "session/new", { sessionId: "s" })
    yield* call(client.newSession({ cwd: "/p" }), "session/new", { sessionId: "t" })
    yield* call(client.listSessions({}), "session/list")
    yield* call(client.listSessions({ cwd: "/p", cursor: "c" }), "session/list")
    yield* call(client.attach({ ...folders, sessionId: "old" }), version === 1 ? "session/load" : "session/resume")
    yield* call(session.setOption("model", "m"), "session/set_config_option")
    yield* call(session.setOption("auto", true), "session/set_config_option")
    const branch = yield* call(session.fork(folders), "session/fork", { sessionId: "b" })
    const blocks: ReadonlyArray<JsonObject> = [
      text("a"),
      { type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain" },
      { type: "resource", resource: { uri: "file:///a", text: "b" } },
      { type: "resource", resource: { uri: "file:///a", blob: "aGk=", mimeType: "x/y" } },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ]
    const turn = yield* session.begin(blocks)
    const prompt = yield* wire.take
    const ask = (id: Json, method: string, params: JsonObject): JsonObject => ({ jsonrpc: "2.0", id, method, params })
    wire.send(
      update("s", state("running")),
      ask(0, "session/request_permission", { sessionId: "s", options: [{ optionId: "a", kind: "allow_once" }] }),
      ask("x", "session/request_permission", { sessionId: "s", options: [] }),
      ask(1, "elicitation/create", { mode: "form" }),
      ask(2, "fs/read_text_file", {}),
    )
    for (let answers = 0; answers < 4; answers++) yield* wire.take
    if (version === 2) yield* call(session.steer([text("left")]), "session/inject")
    const cancelling = yield* Effect.forkChild(turn.cancel, { startImmediately: true })
    yield* wire.take
    wire.send({ jsonrpc: "2.0", id: prompt.id as Json, result: { stopReason: "cancelled" } })
    yield* Fiber.join(cancelling)
    const dropped = yield* Effect.forkChild(branch.setOption("a", "b"), { startImmediately: true })
    yield* wire.take
    yield* Fiber.interrupt(dropped)
    yield* wire.take
    yield* call(branch.close, "session/close")
    yield* call(branch.delete, "session/delete")
    expect(watch.problems).toEqual([])
    expect([...watch.seen].sort()).toEqual(
      [
        "notification $/cancel_request",
        "notification session/cancel",
        "request initialize",
        "request session/close",
        "request session/delete",
        "request session/fork",
        "request session/list",
        "request session/new",
        "request session/prompt",
        "request session/set_config_option",
        version === 1 ? "request session/load" : "request session/resume",
        ...(version === 2 ? ["request session/inject"] : []),
        "response elicitation/create",
        "response fs/read_text_file",
        "response session/request_permission",
      ].sort(),
    )
  }),
)
