import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"

/** One session configuration option, the same for both versions (`id` on v1, `configId` on v2). */
export interface ConfigOption {
  readonly id: string
  readonly name: string | undefined
  readonly category: string | undefined
  /** `select`, `boolean`, or what the agent invented. */
  readonly type: string
  readonly currentValue: Json | undefined
  /** Choices of a select in their order, groups flattened. */
  readonly values: ReadonlyArray<string>
  readonly raw: JsonObject
}

/** An option cannot be set as asked (S22, S124); nothing was sent. `key` is what was asked for. */
export class OptionRefused extends Data.TaggedError("OptionRefused")<{
  readonly key: string
  readonly reason: "missing" | "ambiguous" | "model" | "incompatible"
}> {
  override get message() {
    switch (this.reason) {
      case "model":
        return "use the subagent model override instead of a model config option"
      case "incompatible":
        return `ACP config option ${JSON.stringify(this.key)} has an incompatible value type`
      default:
        return `ACP harness does not advertise an unambiguous config option ${JSON.stringify(this.key)}`
    }
  }
}

const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined)

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const valueOf = (choice: Json): ReadonlyArray<string> =>
  isJsonObject(choice) && typeof choice.value === "string" ? [choice.value] : []

const valuesOf = (options: Json | undefined): ReadonlyArray<string> =>
  list(options).flatMap((entry) =>
    isJsonObject(entry) && Array.isArray(entry.options) ? list(entry.options).flatMap(valueOf) : valueOf(entry),
  )

/** Decodes a raw snapshot; entries without an id are passed over. */
export const readOptions = (snapshot: ReadonlyArray<Json> | undefined): ReadonlyArray<ConfigOption> =>
  (snapshot ?? []).flatMap((raw) => {
    const id = isJsonObject(raw) ? (text(raw.configId) ?? text(raw.id)) : undefined
    if (!isJsonObject(raw) || id === undefined) return []
    return [
      {
        id,
        name: text(raw.name),
        category: text(raw.category),
        type: text(raw.type) ?? (Array.isArray(raw.options) ? "select" : typeof raw.currentValue),
        currentValue: raw.currentValue,
        values: valuesOf(raw.options),
        raw,
      },
    ]
  })

/** Whether an option chooses the model, by id or category. */
export const isModel = ({ id, category }: ConfigOption): boolean => id === "model" || category === "model"

/** The selectable model option: the one with id `model`, else the only one of category `model` (decision 12). */
export const modelOption = (options: ReadonlyArray<ConfigOption>): ConfigOption | undefined => {
  const selects = options.filter((option) => option.type === "select")
  const named = selects.find((option) => option.id === "model")
  const ofCategory = selects.filter((option) => option.category === "model")
  return named ?? (ofCategory.length === 1 ? ofCategory[0] : undefined)
}

/** Finds an option by id, else by the only one of that category, and checks that it takes the value; the model is refused here (S124). */
export const chooseOption = (
  options: ReadonlyArray<ConfigOption>,
  key: string,
  value: string | boolean,
): Result.Result<ConfigOption, OptionRefused> => {
  const exact = options.find((option) => option.id === key)
  const ofCategory = options.filter((option) => option.category === key)
  const found = exact ?? (ofCategory.length === 1 ? ofCategory[0] : undefined)
  if (found === undefined) return Result.fail(new OptionRefused({ key, reason: ofCategory.length > 1 ? "ambiguous" : "missing" }))
  if (isModel(found)) return Result.fail(new OptionRefused({ key, reason: "model" }))
  const fits = typeof value === "boolean" ? found.type === "boolean" : found.type === "select"
  return fits ? Result.succeed(found) : Result.fail(new OptionRefused({ key, reason: "incompatible" }))
}
