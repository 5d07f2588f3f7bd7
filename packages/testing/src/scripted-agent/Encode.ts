import type { Capability, ConfigOption, Mood } from "../Mood.ts"
import type { Fields } from "./Value.ts"

const on = (mood: Mood, capability: Capability): boolean => mood.capabilities?.[capability] ?? capability !== "steering"

const marker = (mood: Mood, ...names: ReadonlyArray<Capability>): Record<string, Fields> =>
  Object.fromEntries(names.filter((name) => on(mood, name)).map((name) => [name, {}]))

const capabilitiesV1 = (mood: Mood): unknown =>
  mood.rawCapabilities ?? {
    loadSession: on(mood, "load"),
    promptCapabilities: {
      image: on(mood, "image"),
      audio: on(mood, "audio"),
      embeddedContext: on(mood, "embeddedContext"),
    },
    mcpCapabilities: { http: true, sse: false },
    sessionCapabilities: marker(mood, "list", "resume", "close", "delete", "fork", "additionalDirectories"),
  }

const capabilitiesV2 = (mood: Mood): unknown =>
  mood.rawCapabilities ?? {
    session: {
      prompt: marker(mood, "image", "audio", "embeddedContext"),
      mcp: { stdio: {}, http: {} },
      ...marker(mood, "delete", "fork", "additionalDirectories"),
      ...(on(mood, "inject") ? { inject: { modes: ["steer"], steerInStream: ["finish"] } } : {}),
    },
  }

/** The result of `initialize`; a version above 2 is answered in the words of v2. */
export const initialized = (mood: Mood, version: number): Fields => {
  const info = mood.info === undefined ? { name: "scripted-agent", version: "1.0.0" } : mood.info
  const methods = mood.authMethods ?? []
  return version === 1
    ? {
        protocolVersion: version,
        ...(info === null ? {} : { agentInfo: info }),
        agentCapabilities: capabilitiesV1(mood),
        authMethods: methods,
        ...(on(mood, "steering") ? { _meta: { steering: { supported: true } } } : {}),
      }
    : {
        protocolVersion: version,
        ...(info === null ? {} : { info }),
        capabilities: capabilitiesV2(mood),
        authMethods: methods.map(({ id, name, type }) => ({ type: type ?? "agent", methodId: id, name })),
      }
}

/** The list of options as it stands on the wire. */
export const options = (list: ReadonlyArray<ConfigOption>, version: number): ReadonlyArray<Fields> =>
  list.map(({ id, name, type, options, ...rest }) => ({
    [version === 1 ? "id" : "configId"]: id,
    name: name ?? id,
    type: type ?? (typeof rest.currentValue === "boolean" ? "boolean" : "select"),
    ...rest,
    ...(options === undefined
      ? {}
      : {
          options: options.map((entry) => {
            if (version === 1 || !("group" in entry)) return entry
            const { group, ...others } = entry
            return { groupId: group, ...others }
          }),
        }),
  }))

/** Whether `value` can be chosen. */
export const accepts = (option: ConfigOption, value: unknown): boolean =>
  option.options === undefined
    ? typeof value === typeof option.currentValue
    : option.options.some((entry) =>
        "group" in entry ? entry.options.some((choice) => choice.value === value) : entry.value === value,
      )
