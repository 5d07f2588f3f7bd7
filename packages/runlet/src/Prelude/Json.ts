import { NotPresentable, present } from "../Canonical.ts"
import { JsonProblem, parseJson } from "../JsonText.ts"
import type { Intrinsic } from "../Registry.ts"
import * as Types from "../Types.ts"
import { define, failed } from "./Signature.ts"

export const json: ReadonlyArray<Intrinsic> = [
  define("json.parse", "The value of a JSON text", { s: Types.string }, Types.any, ([s]) => {
    const value = parseJson(s as string)
    if (!(value instanceof JsonProblem)) return value
    return failed("RL5211", `INVALID_JSON: ${value.message} at line ${value.line} column ${value.column}`)
  }),
  define("json.encode", "Compact JSON with sorted keys", { value: Types.any }, Types.string, ([value]) => {
    const text = present(value!)
    return text instanceof NotPresentable ? failed("RL5207", `NOT_JSON_REPRESENTABLE: ${text.message}`) : text
  }),
]
