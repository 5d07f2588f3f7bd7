import { json } from "./Prelude/Json.ts"
import { list } from "./Prelude/List.ts"
import { number } from "./Prelude/Number.ts"
import { regex } from "./Prelude/Regex.ts"
import { text } from "./Prelude/Text.ts"
import { time } from "./Prelude/Time.ts"
import type { Intrinsic } from "./Registry.ts"

/** The 28 functions that every program can call, pure and with schema version `stdlib/1`: text, regex, list, json, number, time. */
export const prelude: ReadonlyArray<Intrinsic> = [...text, ...regex, ...list, ...json, ...number, ...time]
