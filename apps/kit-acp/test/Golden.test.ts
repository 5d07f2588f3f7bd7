import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Processes } from "@acp-kit/platform/Processes"
import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import { appears } from "@acp-kit/testing/Appears"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { block, machine, text } from "./Machine.ts"
import { observed } from "./Parent.ts"

const varying = /\b(?:(m|call)-[0-9a-f]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g

/** The exchange line by line, with names for what differs from run to run: `m-1` is the first message id that was seen. */
const steady = (frames: ReadonlyArray<WireFrame>, root: string): string => {
  const names = new Map<string, string>()
  const nameOf = (id: string, kind = "session") => {
    const name = names.get(id) ?? `${kind}-${names.size + 1}`
    names.set(id, name)
    return name
  }
  const lines = frames.map(({ direction, line }) => {
    const named = line
      .replaceAll(root, "/root")
      .replaceAll(varying, nameOf)
      .replaceAll(/"updatedAt":"[^"]*"/g, '"updatedAt":"now"')
      .replaceAll(/"name":"kit","version":"[^"]*"/g, '"name":"kit","version":"this"')
    return `${direction === "out" ? ">" : "<"} ${named}\n`
  })
  return lines.join("")
}

it.layer(Processes.layer, { excludeTestServices: true })("the recorded exchanges", (it) => {
  it.effect.each([1, 2] as const)("are what our client and kit acp still say to each other, version %d", (offer) =>
    Effect.gen(function* () {
      const here = yield* machine
      const frames: Array<WireFrame> = []
      const observe = (seen: ReadonlyArray<WireFrame>) => Effect.sync(() => void frames.push(...seen))
      const { agent, open, end, ask } = yield* observed(here, { offer, observe }, "--session-id", "first")
      const session = yield* open
      yield* ask("hello")
      yield* ask(block('return shell({ command: "echo from the shell" })', 'runlet intent="say something"'))
      yield* ask(block("return nonsense("))
      const working = yield* session.begin(text(block('return shell({ command: "touch started; exec sleep 60" })')))
      yield* appears(join(here.root, "started"))
      expect(yield* working.cancel).toBe("settled")
      yield* session.setOption("reasoning_effort", "high")
      const fork = yield* session.fork({ cwd: here.root })
      yield* fork.prompt(text("from the fork"))
      yield* agent.listSessions({ cwd: here.root })
      yield* fork.delete
      yield* session.close
      yield* agent.attach({ sessionId: session.id, cwd: here.root })
      yield* end
      const file = fileURLToPath(new URL(`golden/version-${offer}.txt`, import.meta.url))
      yield* Effect.promise(() => expect(steady(frames, here.root)).toMatchFileSnapshot(file))
    }),
  )
})
