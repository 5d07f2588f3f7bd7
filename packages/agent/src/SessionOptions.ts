import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Effort, efforts, type Interface as Provider } from "./ModelProvider.ts"

/** The value is not one of the option's, or there is no such option; nothing changed. */
export class OptionRefused extends Schema.TaggedError<OptionRefused>()("OptionRefused", { message: Schema.String }) {}

/** What a client may choose for a session; a change applies from the next turn. */
export interface Selection {
  readonly model: string
  readonly effort: Effort
}

/** A configuration option as a client sees it, whatever the version. */
export interface ConfigOption {
  readonly id: "model" | "reasoning_effort"
  readonly name: string
  readonly category: "model" | "thought_level"
  readonly current: string
  readonly choices: ReadonlyArray<{ readonly value: string; readonly name: string }>
}

/** The whole list, in the order in which it is shown. */
export const list = (provider: Provider, selection: Selection): ReadonlyArray<ConfigOption> => [
  {
    id: "model",
    name: "Model",
    category: "model",
    current: selection.model,
    choices: provider.models.map(({ id, name }) => ({ value: id, name })),
  },
  {
    id: "reasoning_effort",
    name: "Reasoning effort",
    category: "thought_level",
    current: selection.effort,
    choices: efforts.map((value) => ({ value, name: `${value[0]?.toUpperCase()}${value.slice(1)}` })),
  },
]

/** The selection with one option set; `id` is the option's. */
export const set = Effect.fnUntraced(function* (
  provider: Provider,
  selection: Selection,
  id: string,
  value: unknown,
): Effect.fn.Return<Selection, OptionRefused> {
  const option = list(provider, selection).find((option) => option.id === id)
  if (option === undefined)
    return yield* new OptionRefused({ message: `unknown session configuration option ${JSON.stringify(id)}` })
  if (typeof value !== "string") return yield* new OptionRefused({ message: "selection requires an id value" })
  if (!option.choices.some((choice) => choice.value === value)) {
    const known = option.choices.map((choice) => choice.value).join(", ")
    const what = id === "model" ? "model is not in the advertised catalog" : `${JSON.stringify(value)} is not a reasoning effort`
    return yield* new OptionRefused({ message: `${what}; valid values: ${known}` })
  }
  return id === "model" ? { ...selection, model: value } : { ...selection, effort: value as Effort }
})

export * as SessionOptions from "./SessionOptions.ts"
