import { join } from "node:path"
import { Processes } from "@acp-kit/platform/Processes"
import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import { appears } from "@acp-kit/testing/Appears"
import { ScriptedAgent } from "@acp-kit/testing/ScriptedAgent"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { block, machine, text } from "./Machine.ts"
import { observed } from "./Parent.ts"

/** As it stood on the wire. */
type Update = any

const outcome = { code: "CANCELLED", message: "the call was cancelled; its effects may have happened" }

const shown = (text: string) => [{ type: "content", content: { type: "text", text } }]

/** `kit acp` with a session that a child works in, and every update as it stood on the wire. */
const atWork = Effect.fnUntraced(function* (version: 1 | 2, info = "runlet") {
  const here = yield* machine
  yield* here.agent("one")
  const updates: Array<Update> = []
  const observe = (frames: ReadonlyArray<WireFrame>) =>
    Effect.sync(() => {
      for (const { direction, kind, line } of frames) {
        if (direction === "in" && kind === "notification") updates.push(JSON.parse(line).params.update)
      }
    })
  const { agent, open } = yield* observed(here, { offer: version, observe })
  const session = yield* open
  const started = join(here.root, "started")
  const prompt = JSON.stringify(ScriptedAgent.script({ touch: started }, { awaitCancel: true }))
  const turn = yield* session.begin(text(block(`return subagent({ harness: "acp.one", prompt: ${prompt} })`, info)))
  yield* appears(started)
  const results = (ofChild: boolean) =>
    updates.filter(
      ({ toolCallId, content }) =>
        toolCallId !== undefined && content !== undefined && toolCallId.includes(":compose:") === ofChild,
    )
  return { ...here, agent, session, turn, updates, results }
})

it.layer(Processes.layer, { excludeTestServices: true })("a call of kit acp that is cancelled", (it) => {
  it.effect.each([
    [1, "failed"],
    [2, "cancelled"],
  ] as const)(
    "S150 S151 says so, as does that of the child it waits for, now and when it is told again, version %d",
    ([version, status]) =>
      Effect.gen(function* () {
        const { agent, session, turn, updates, results, root } = yield* atWork(version)
        expect(yield* turn.cancel).toBe("settled")
        const result = { status, rawOutput: outcome, content: shown(`${outcome.code}: ${outcome.message}`) }
        expect(results(true).at(-1)).toMatchObject({ status, content: shown("CANCELLED: nested agent cancelled") })
        expect(results(false)).toMatchObject([result])
        expect((yield* session.prompt(text("and on"))).text).toBe("echo: and on")
        yield* session.close
        updates.length = 0
        yield* agent.attach({ sessionId: session.id, cwd: root })
        expect(results(false)).toMatchObject([result])
      }),
  )

  it.effect("S151 says so where it went on in the background and its session is closed", () =>
    Effect.gen(function* () {
      const { agent, session, turn, updates, results, root } = yield* atWork(2, "runlet background=true")
      yield* turn.result
      expect(results(false)).toMatchObject([{ status: "in_progress" }])
      yield* session.close
      const result = { status: "cancelled", rawOutput: outcome }
      updates.length = 0
      yield* agent.attach({ sessionId: session.id, cwd: root })
      expect(results(false).at(-1)).toMatchObject(result)
    }),
  )
})
