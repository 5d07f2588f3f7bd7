import type { Message } from "../Agent.ts"
import type { Lab } from "../Lab.ts"
import { expect, given, type Rule, rule } from "../Rule.ts"

const idOf = (option: Message) => option.configId ?? option.id
const flat = (option: Message): ReadonlyArray<Message> =>
  (option.options ?? []).flatMap((choice: Message) => choice.options ?? [choice])

const offered = async (lab: Lab) => {
  const agent = await lab.ready()
  const { sessionId, configOptions } = await lab.newSession(agent)
  given(Array.isArray(configOptions) && configOptions.length > 0, "no options are offered")
  return { agent, sessionId, options: configOptions as ReadonlyArray<Message> }
}

const set = (lab: Lab, configId: string, value: unknown) =>
  lab.version === 1 ? { configId, value } : { configId, type: "id", value }

const second = (options: ReadonlyArray<Message>) => {
  const option = options.find((option) => option.type === "select" && flat(option).length > 1)
  given(option !== undefined, "no option has a second value")
  return { option, value: flat(option).find(({ value }) => value !== option.currentValue)?.value }
}

export const rules: ReadonlyArray<Rule> = [
  rule("CONFIG-201", "capability", [1, 2], "an option has id, name and type, and a select its value and choices", async (lab) => {
    for (const option of (await offered(lab)).options) {
      expect(idOf(option) && option.name && option.type, JSON.stringify(option))
      if (option.type === "select") expect(option.currentValue !== undefined && flat(option).length > 0, JSON.stringify(option))
    }
  }),
  rule("CONFIG-204", "capability", [1, 2], "the current value of a select is one of its choices", async (lab) => {
    for (const option of (await offered(lab)).options) {
      if (option.type === "select")
        expect(
          flat(option).some(({ value }) => value === option.currentValue),
          `${idOf(option)}`,
        )
    }
  }),
  rule("CONFIG-202", "capability", [1, 2], "setting an option is answered with the complete list", async (lab) => {
    const { agent, sessionId, options } = await offered(lab)
    const { option, value } = second(options)
    const { result, error } = await agent.call("session/set_config_option", { sessionId, ...set(lab, idOf(option), value) })
    expect(result?.configOptions?.length === options.length, JSON.stringify(error ?? result))
    expect(result.configOptions.find((found: Message) => idOf(found) === idOf(option))?.currentValue === value, "another value")
  }),
  rule("CONFIG-207", "informational", [1, 2], "an unknown option and an unknown value are refused", async (lab) => {
    const { agent, sessionId, options } = await offered(lab)
    for (const [id, value] of [
      ["no-such-option", "x"],
      [idOf(second(options).option), "no-such-value"],
    ] as const) {
      const { error } = await agent.call("session/set_config_option", { sessionId, ...set(lab, id, value) })
      expect(error !== undefined, id)
    }
  }),
]
