import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import type { Child } from "@acp-kit/platform/Processes"
import { Processes } from "@acp-kit/platform/Processes"
import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { block, machine, text } from "./Machine.ts"
import { observed } from "./Parent.ts"

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
    it.effect.each([1, 2] as const)("fails the turn, is told as it begins and ends, and loses nothing, version %d", (version) =>
      Effect.gen(function* () {
        const here = yield* machine
        const heard: Array<string> = []
        const observe = (batch: ReadonlyArray<WireFrame>) => Effect.sync(() => void heard.push(...batch.map(({ line }) => line)))
        const { open, child, end } = yield* observed(here, { offer: version, observe })
        const session = yield* open
        yield* limit(child.pid, 1)
        const effect = here.file("effect")
        const refused = yield* Effect.flip(session.prompt(text(block(`return shell({ command: "touch ${effect}" }).success`))))
        expect(refused.message).toContain("the conversation cannot be recorded: the disk is full")
        expect(existsSync(effect)).toBe(false)
        yield* says(child, "kit acp: no space left to write")
        yield* limit(child.pid, "unlimited")
        yield* says(child, "kit acp: the disk takes everything again")
        expect((yield* session.prompt(text("again"))).text).toBe("echo: again")
        yield* end
        const notices = heard.filter((line) => line.includes('"notice"') && !line.includes("the conversation"))
        expect(notices).toEqual([
          expect.stringMatching(/no space left to write .*free some/),
          expect.stringContaining("nothing that was accepted was lost"),
        ])
        const later = yield* observed(here, { offer: version })
        const { replay } = yield* later.agent.attach({ sessionId: session.id, cwd: here.root })
        expect(replay).toMatchObject({ userMessages: 2, agentMessages: 1 })
        yield* later.end
      }),
    )
  })
})
