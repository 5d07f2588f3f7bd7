import { spawnSync } from "node:child_process"
import type { Child } from "@acp-kit/platform/Processes"
import { Processes } from "@acp-kit/platform/Processes"
import { touch } from "@acp-kit/testing/Appears"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { block, machine, text } from "./Machine.ts"
import { parent } from "./Parent.ts"

/** From now on no file of the process grows beyond so many bytes, which its writes notice like a full disk. */
const limit = (pid: number, bytes: number | "unlimited") =>
  Effect.sync(() => expect(spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]).status).toBe(0))

/** Waits until stderr says this. */
const says = (child: Child, part: string) =>
  Effect.gen(function* () {
    const decoder = new TextDecoder()
    let heard = ""
    while (!heard.includes(part)) {
      const chunk = yield* child.readError
      if (chunk === undefined) return yield* Effect.die(new Error(`never said ${part}, but:\n${heard}`))
      heard += decoder.decode(chunk, { stream: true })
    }
  })

describe.runIf(process.platform === "linux")("a full disk", () => {
  it.layer(Processes.layer, { excludeTestServices: true })("of kit acp", (it) => {
    it.effect.each([1, 2] as const)("is a notice to the client and a line on stderr, and so is its end, version %d", (version) =>
      Effect.gen(function* () {
        const here = yield* machine
        const { open, child } = yield* parent(here, version)
        const session = yield* open
        const gate = here.file("gate")
        yield* limit(child.pid, 1)
        const prompt = block(`return shell({ command: "while [ ! -e ${gate} ]; do sleep 0.01; done; echo done" }).stdout`)
        const turn = yield* Effect.forkChild(session.prompt(text(prompt)))
        yield* says(child, "kit acp: no space left to write")
        yield* limit(child.pid, "unlimited")
        yield* says(child, "kit acp: the disk takes everything again")
        yield* touch(gate)
        const { items, text: answer } = yield* Fiber.join(turn)
        expect(answer).toBe("done\n")
        expect(items.filter((item) => item.sessionUpdate === "notice")).toMatchObject([
          { severity: "warning", title: expect.stringMatching(/^no space left to write .*free some/) },
          { severity: "info", title: expect.stringContaining("nothing that was accepted was lost") },
        ])
      }),
    )
  })
})
