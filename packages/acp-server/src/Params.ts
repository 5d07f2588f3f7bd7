import type { Json, JsonObject } from "@acp-kit/protocol/Json"
import type { Errors } from "./Bridge.ts"

/** True for what `{}` encloses. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads the parameters of a method that the SDK does not know; `undefined` refuses them. */
export const readerOf =
  (errors: Errors) =>
  <A>(read: (params: JsonObject) => A | undefined) =>
  (params: unknown): A => {
    const value = isObject(params) ? read(params) : undefined
    if (value === undefined) throw new errors(-32602, "Invalid params")
    return value
  }

/** The strings under these names, all of them or nothing. */
export const strings = <Name extends string>(
  params: JsonObject,
  ...names: ReadonlyArray<Name>
): { readonly [N in Name]: string } | undefined => {
  const entries: ReadonlyArray<readonly [string, Json | undefined]> = names.map((name) => [name, params[name]])
  return entries.every(([, value]) => typeof value === "string")
    ? (Object.fromEntries(entries) as { readonly [N in Name]: string })
    : undefined
}
