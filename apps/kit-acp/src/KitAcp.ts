import { AcpServer } from "@acp-kit/acp-server/AcpServer"
import { Argv } from "@acp-kit/platform/Argv"
import { Host } from "@acp-kit/platform/Host"
import { Main } from "@acp-kit/platform/Main"
import { Stdio } from "@acp-kit/platform/Stdio"
import { type Transport, TransportClosed } from "@acp-kit/protocol/Transport"
import * as Effect from "effect/Effect"
import manifest from "../package.json" with { type: "json" }
import { type Arguments, parse } from "./Arguments.ts"

/**
 * Runs `kit acp` as this process: `argv` are the words behind `acp`. Leaves with 0 at the end of input or when the client is gone, 1 where a
 * message was too large to be taken, or the input or the output does not work, 2 where the call is wrong.
 */
export const main = (argv: ReadonlyArray<string>): void => {
  const given = parse(argv)
  const program = Effect.gen(function* () {
    const stdio = yield* Stdio.Service
    const damage = Argv.damage()
    if (damage !== undefined) return yield* Effect.as(stdio.writeError(`kit acp: ${damage}\n`), 2)
    if ("mistake" in given) {
      return yield* Effect.as(stdio.writeError(`kit acp: ${given.mistake}; kit acp --help lists what there is\n`), 2)
    }
    return yield* Effect.catch(serve(given, stdio), ({ message }) => Effect.as(stdio.writeError(`kit acp: ${message}\n`), 1))
  })
  Main.run(Effect.provide(program, Stdio.layer))
}

const serve = Effect.fnUntraced(function* (given: Arguments, stdio: Stdio.Interface) {
  const host = yield* Host.read(manifest.version)
  const scope = yield* Effect.scope
  const sessions = Effect.flatMap(
    Effect.promise(() => import("./Sessions.ts")),
    ({ make }) => make(given, host, scope, (line) => stdio.writeError(`kit acp: ${line}\n`)),
  )
  let lost: Lost | undefined
  const lose = (closed: Lost) => {
    if (closed.reason !== "EPIPE") lost ??= closed
  }
  yield* AcpServer.serve(transportOf(stdio, lose), {
    protocol: given.protocol,
    framing: { batches: given.batches, onRefused: (what) => stdio.writeError(`kit acp: ${what}\n`) },
    info: { name: "kit", version: manifest.version },
    sessions,
  })
  return lost === undefined ? 0 : yield* lost
}, Effect.scoped)

/** The input or the output of this process does not work. */
type Lost = Stdio.InputFailed | Stdio.OutputClosed

/** The pipes of this process as the protocol's transport. */
const transportOf = (stdio: Stdio.Interface, lose: (why: Lost) => void): Transport => {
  const losing = <A>(effect: Effect.Effect<A, Lost>) =>
    Effect.mapError(effect, (why) => {
      lose(why)
      return closed
    })
  return { read: losing(stdio.read), write: (frame) => losing(stdio.write(frame)), end: Effect.void, closed: Effect.never }
}

const closed = new TransportClosed({ reason: "io", exitCode: undefined, signal: undefined, stderrTail: "" })
