import { AcpServer } from "@acp-kit/acp-server/AcpServer"
import { Host } from "@acp-kit/platform/Host"
import { Main } from "@acp-kit/platform/Main"
import { Stdio } from "@acp-kit/platform/Stdio"
import { type Transport, TransportClosed } from "@acp-kit/protocol/Transport"
import * as Effect from "effect/Effect"
import manifest from "../package.json" with { type: "json" }
import { type Arguments, parse, usage } from "./Arguments.ts"

/** Runs `kit acp` as this process: `argv` are the words behind `acp`. Leaves with 0 at the end of input, 1 where a message was too large
 * to be taken, 2 where the call is wrong. */
export const main = (argv: ReadonlyArray<string>): void => {
  const given = parse(argv)
  const program = Effect.gen(function* () {
    const stdio = yield* Stdio.Service
    if (given === "help") return yield* Effect.as(Effect.ignore(stdio.write(usage)), 0)
    if ("mistake" in given) {
      return yield* Effect.as(stdio.writeError(`kit acp: ${given.mistake}; kit acp --help lists what there is\n`), 2)
    }
    return yield* serve(given, stdio).pipe(
      Effect.catchTags({
        HostUnusable: ({ message }) => Effect.as(stdio.writeError(`kit acp: ${message}\n`), 1),
        InputRefused: ({ message }) => Effect.as(stdio.writeError(`kit acp: ${message}\n`), 1),
      }),
    )
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
  yield* AcpServer.serve(transportOf(stdio), {
    protocol: given.protocol,
    framing: { batches: given.batches, onRefused: (what) => stdio.writeError(`kit acp: ${what}\n`) },
    info: { name: "kit", version: manifest.version },
    sessions,
  })
  return 0
}, Effect.scoped)

/** The pipes of this process as the protocol's transport. */
const transportOf = (stdio: Stdio.Interface): Transport => ({
  read: stdio.read,
  write: (frame) => Effect.mapError(stdio.write(frame), () => closed),
  end: Effect.void,
  closed: Effect.never,
})

const closed = new TransportClosed({ reason: "io", exitCode: undefined, signal: undefined, stderrTail: "" })
