/** `Rewriter.ts FILE COUNT`: replaces a document COUNT times by ones of very different sizes, then says `done`. */

import { writeSync } from "node:fs"
import * as Effect from "effect/Effect"
import { DiskNode } from "../../src/DiskNode.ts"
import { Document } from "../../src/Document.ts"

const [file, count] = process.argv.slice(2) as [string, string]

const program = Effect.gen(function* () {
  yield* Document.write(file, { number: 0, filler: "" })
  writeSync(1, "begun\n")
  for (let number = 1; number <= Number(count); number++) {
    yield* Document.write(file, { number, filler: "x".repeat((number * 7919) % 60_000) }, { durable: number % 10 === 0 })
  }
})

await Effect.runPromise(program.pipe(Effect.provide(DiskNode.layer)))
writeSync(1, "done\n")
