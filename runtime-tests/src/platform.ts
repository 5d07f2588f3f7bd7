import * as Package from "@acp-kit/platform"
import { Processes } from "@acp-kit/platform/Processes"
import * as Effect from "effect/Effect"

const program = Effect.gen(function* () {
  const processes = yield* Processes.Service
  const cat = yield* processes.spawn({ command: "cat", args: [], cwd: "/", env: { PATH: "/usr/bin:/bin" } })
  yield* cat.write("hello")
  const echoed = yield* cat.read
  yield* cat.endInput
  const { code } = yield* cat.exit
  return `${new TextDecoder().decode(echoed)} ${code}`
})

const seen = await Effect.runPromise(Effect.provide(Effect.scoped(program), Processes.layer))
console.log(seen === "hello 0" && "Host" in Package ? "ok" : seen)
