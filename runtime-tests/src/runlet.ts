import * as Package from "@acp-kit/runlet"
import { compile, run } from "@acp-kit/runlet/Runlet"
import * as Effect from "effect/Effect"

const compiled = compile("total = fold sum = 0 for n in [1, 2, 39] { return sum + n }\nreturn { total, exact: 9007199254740993 }")
if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
const value = await Effect.runPromise(run(compiled.program))
const text = Package.Canonical.stringify(value)
console.log(text === '{"exact":9007199254740993,"total":42}' ? "ok" : text)
