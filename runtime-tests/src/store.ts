import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Package from "@acp-kit/store"
import { DiskNode } from "@acp-kit/store/DiskNode"
import { Document } from "@acp-kit/store/Document"
import * as Effect from "effect/Effect"

const directory = mkdtempSync(join(tmpdir(), "kit-store-"))
const file = join(directory, "meta.json")

const program = Effect.gen(function* () {
  yield* Document.write(file, { status: "starting" })
  yield* Document.write(file, { status: "idle" })
  return yield* Document.read(file)
})

const read = await Effect.runPromise(Effect.provide(program, DiskNode.layer))
const left = readdirSync(directory)
rmSync(directory, { recursive: true })
console.log(
  read?.status === "idle" && left.join() === "meta.json" && "SubagentStore" in Package ? "ok" : JSON.stringify([read, left]),
)
