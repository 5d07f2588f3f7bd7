import type { Message } from "../Agent.ts"
import { initialize } from "../Lab.ts"
import { expect, type Rule, rule } from "../Rule.ts"

const infoOf = (result: Message) => result.info ?? result.agentInfo

const markers = (value: unknown, path: string): ReadonlyArray<string> => {
  if (typeof value === "boolean") return [path]
  if (typeof value !== "object" || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === "_meta" ? [] : markers(inner, `${path}.${key}`)))
}

const methodsOf = (result: Message): ReadonlyArray<Message> => result.authMethods ?? []
const idOf = (method: Message) => method.methodId ?? method.id

export const rules: ReadonlyArray<Rule> = [
  rule("INIT-001", "mandatory", [1, 2], "initialize gives a result", async (lab) => {
    expect((await lab.offered(lab.version)).result, "an error instead of a result")
  }),
  rule("INIT-201", "mandatory", [2], "the version of the answer is 2, or the latest that the agent has", async (lab) => {
    const [asked, latest] = [(await lab.offered(2)).result?.protocolVersion, (await lab.offered(65535)).result?.protocolVersion]
    expect(Number.isInteger(asked), `protocolVersion ${JSON.stringify(asked)}`)
    expect(asked === 2 || asked === latest, `answered ${asked} to 2, and ${latest} to 65535`)
  }),
  rule("INIT-003", "mandatory", [1, 2], "a version from the future is answered with one of the agent's", async (lab) => {
    const future = (await lab.offered(65535)).result?.protocolVersion
    const now = (await lab.offered(lab.version)).result?.protocolVersion
    expect(
      Number.isInteger(future) && future !== 65535 && future >= now,
      `answered ${future} to 65535 and ${now} to ${lab.version}`,
    )
  }),
  rule("INIT-202", "mandatory", [1, 2], "version 1 is answered", async (lab) => {
    const { result, error } = await lab.offered(1)
    expect(
      result?.protocolVersion === 1 || result?.protocolVersion === 2,
      `answered ${JSON.stringify(error ?? result?.protocolVersion)}`,
    )
  }),
  rule("INIT-203", "mandatory", [2], "the agent names itself and its version", async (lab) => {
    const { name, version } = infoOf(await lab.initialized()) ?? {}
    expect(name && version, `info ${JSON.stringify({ name, version })}`)
  }),
  rule("INIT-004", "advisory", [1], "the agent names itself and its version", async (lab) => {
    const { name, version } = infoOf(await lab.initialized()) ?? {}
    expect(name && version, `agentInfo ${JSON.stringify({ name, version })}`)
  }),
  rule("INIT-204", "mandatory", [2], "a capability is an object or null, never a boolean", async (lab) => {
    const found = markers((await lab.initialized()).capabilities, "capabilities")
    expect(found.length === 0, found.join(", "))
  }),
  rule("EXT-202", "advisory", [2], "capabilities of a vendor stand under capabilities._meta", async (lab) => {
    const { session, auth, _meta, ...others } = (await lab.initialized()).capabilities ?? {}
    expect(Object.keys(others).length === 0, `at the root: ${Object.keys(others).join(", ")}`)
  }),
  rule("AUTH-201", "advisory", [1, 2], "the ids of auth methods differ", async (lab) => {
    const ids = methodsOf(await lab.initialized()).map(idOf)
    expect(new Set(ids).size === ids.length, ids.join(", "))
  }),
  rule("AUTH-202", "mandatory", [1, 2], "no terminal auth method is offered to a client that cannot run one", async (lab) => {
    expect(
      methodsOf(await lab.initialized()).every(({ type }) => type !== "terminal"),
      "a terminal method",
    )
  }),
  rule("AUTH-206", "mandatory", [2], "an auth method is of a known type or of a vendor's", async (lab) => {
    const types = methodsOf(await lab.initialized()).map(({ type }) => type)
    expect(
      types.every((type) => ["agent", "terminal"].includes(type) || /^_/.test(type)),
      types.join(", "),
    )
  }),
  rule("AUTH-207", "mandatory", [1, 2], "terminal auth methods say how to run them", async (lab) => {
    const capability =
      lab.version === 1 ? { clientCapabilities: { auth: { terminal: true } } } : { capabilities: { auth: { terminal: {} } } }
    const agent = lab.fresh()
    const { result } = await agent.call("initialize", initialize(lab.version, capability))
    const names = new Set<string>()
    for (const { type, args = [], env = [], name } of methodsOf(result ?? {})) {
      if (type !== "terminal") continue
      expect(
        args.every((arg: unknown) => typeof arg === "string"),
        `args of ${name}`,
      )
      const pairs = Array.isArray(env) ? env : Object.entries(env).map(([name, value]) => ({ name, value }))
      expect(
        pairs.every((pair: Message) => typeof pair.name === "string" && typeof pair.value === "string"),
        `env of ${name}`,
      )
      expect(!names.has(name), `${name} twice`)
      names.add(name)
    }
  }),
  rule("AUTH-205", "advisory", [1, 2], "an agent without auth methods asks for none", async (lab) => {
    if (methodsOf(await lab.initialized()).length > 0) return
    const { answer } = await lab.quick()
    expect(answer.error?.code !== -32000, "auth required")
  }),
]
