/** Times everything in turns and prints `{ name: milliseconds of each round }`. */
import { compile, type Program, run } from "@acp-kit/runlet/Runlet"
import * as Effect from "effect/Effect"
import { interleaved } from "../Sample.ts"
import { programs, reference, STEPS, tenKibibytes, thousand } from "./Programs.ts"

const timed = (work: () => unknown) => async () => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const source = tenKibibytes()
const running = (program: Program) => timed(() => Effect.runPromise(run(program)))

const things = {
  reference: timed(() => reference(STEPS)),
  compile: timed(() => compile(source, { tools: thousand })),
  fold: running(programs.fold),
  loop: running(programs.loop),
  crowded: running(programs.crowded),
  calls: running(programs.calls),
  append: running(programs.append),
}
const warm = 10
const samples = await interleaved(warm + 21, things)
console.log(JSON.stringify(Object.fromEntries(samples.map(({ name, values }) => [name, values.slice(warm)]))))
