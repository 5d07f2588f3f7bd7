import { connect, type Limits, type Options } from "@acp-kit/protocol/AgentClient"
import type { Session } from "@acp-kit/protocol/Session"
import * as Effect from "effect/Effect"
import { type Machine, text, transportOf } from "./Machine.ts"

const limits: Limits = {
  lineBytes: 64 * 1024 * 1024,
  items: 64,
  itemBytes: 64 * 1024,
  answerBytes: 64 * 1024 * 1024,
  orphans: 64,
  orphanBytes: 1024 * 1024,
  settle: "5 seconds",
  steer: "5 seconds",
  fork: "5 seconds",
  close: "5 seconds",
  delete: "5 seconds",
  drain: 250,
}

/** Starts `kit acp` on a machine and speaks to it through the protocol package, as a parent Kit does. */
export const parent = (here: Machine, offer: 1 | 2, ...args: ReadonlyArray<string>) => observed(here, { offer }, ...args)

/** The same, and every frame is seen in wire order. */
export const observed = Effect.fnUntraced(function* (
  here: Machine,
  options: Pick<Options, "offer" | "observe">,
  ...args: ReadonlyArray<string>
) {
  const child = yield* here.start("--protocol-version", "auto", ...args)
  const agent = yield* connect(transportOf(child), { ...options, info: { name: "test", version: "0" }, limits })
  let current: Session | undefined
  const open = Effect.map(agent.newSession({ cwd: here.root }), (session) => {
    current = session
    return session
  })
  return {
    child,
    agent,
    /** Opens a session, which `ask` then speaks to. */
    open,
    ask: (words: string) =>
      Effect.suspend(() => (current === undefined ? Effect.die("no session is open") : current.prompt(text(words)))).pipe(
        Effect.map((turn) => turn.text),
      ),
    /** Ends its input and waits until it has left. */
    end: Effect.andThen(child.endInput, child.exit),
    kill: Effect.andThen(
      Effect.sync(() => process.kill(child.pid, "SIGKILL")),
      child.exit,
    ),
  }
})
