import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Processes } from "@acp-kit/platform/Processes"
import * as AgentClient from "@acp-kit/protocol/AgentClient"
import type { JsonObject } from "@acp-kit/protocol/Json"
import type { Session, SessionView } from "@acp-kit/protocol/Session"
import { type Transport, TransportClosed } from "@acp-kit/protocol/Transport"
import type { Noise, WireFrame } from "@acp-kit/protocol/WireFrame"
import type { Mood, Step } from "@acp-kit/testing/Mood"
import { runtime } from "@acp-kit/testing/ScriptedAgent"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { schemaWatch } from "./Schemas.ts"
import { options } from "./Wire.ts"

const require = createRequire(import.meta.url)

/** A folder that goes away with the scope. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kit-protocol-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
)

const tailBytes = 8 * 1024

/** A process of the scope as a transport; what it says on stderr is drained and its end kept. */
export const processTransport = (command: ReadonlyArray<string>, cwd: string) =>
  Effect.gen(function* () {
    const processes = yield* Processes.Service
    const child = yield* processes.spawn({
      command: command[0] as string,
      args: command.slice(1),
      cwd,
      env: { ...(process.env as Record<string, string>), HOME: cwd, TMPDIR: cwd },
      ladder: { eof: "200 millis", term: "200 millis" },
    })
    let tail = ""
    const decoder = new TextDecoder()
    const drain = Effect.gen(function* () {
      for (;;) {
        const bytes = yield* child.readError
        if (bytes === undefined) return
        tail = (tail + decoder.decode(bytes, { stream: true })).slice(-tailBytes)
      }
    })
    const drained = yield* Effect.forkScoped(drain)
    const closedBy = (reason: TransportClosed["reason"]) =>
      new TransportClosed({ reason, exitCode: undefined, signal: undefined, stderrTail: tail })
    const transport: Transport = {
      read: child.read,
      write: (frame) => Effect.mapError(child.write(frame), () => closedBy("io")),
      end: child.endInput,
      closed: Effect.gen(function* () {
        const { code, signal } = yield* child.exit
        yield* Effect.timeoutOption(Fiber.await(drained), "100 millis")
        return new TransportClosed({ reason: "eof", exitCode: code, signal, stderrTail: tail })
      }),
    }
    return transport
  })

export interface Started {
  readonly client: AgentClient.AgentClient
  readonly cwd: string
  readonly frames: ReadonlyArray<WireFrame>
  readonly noises: ReadonlyArray<Noise>
  /** What was sent and does not validate against the SDK's schemas. */
  readonly problems: ReadonlyArray<string>
}

/** A client over a process, every frame observed and every outgoing one checked against the schemas. */
export const startAgent = (command: ReadonlyArray<string>, changes: Partial<AgentClient.Options> = {}) =>
  Effect.gen(function* () {
    const cwd = yield* folder
    const frames: Array<WireFrame> = []
    const noises: Array<Noise> = []
    let version: 1 | 2 = changes.offer ?? 2
    const watch = schemaWatch(() => version)
    const transport = yield* processTransport(command, cwd)
    const client = yield* AgentClient.connect(
      transport,
      options({
        observe: (batch) =>
          Effect.andThen(
            watch.observe(batch),
            Effect.sync(() => void frames.push(...batch)),
          ),
        onNoise: (noise) => Effect.sync(() => void noises.push(noise)),
        ...changes,
      }),
    )
    version = client.version
    return { client, cwd, frames, noises, problems: watch.problems } satisfies Started
  })

const scripted = require.resolve("@acp-kit/testing/scripted-agent")

/** The launch line of the scripted agent in this mood. */
export const scriptedAgent = (mood: Mood, ...more: ReadonlyArray<string>) =>
  Effect.map(folder, (home): ReadonlyArray<string> => {
    const file = join(home, "mood.json")
    writeFileSync(file, JSON.stringify(mood))
    return [runtime, scripted, "--mood-file", file, ...more]
  })

/** The scripted agent in this mood, speaking `version` unless the mood says otherwise. */
export const startClient = (
  version: 1 | 2,
  mood: Mood,
  changes: Partial<AgentClient.Options> = {},
  ...more: ReadonlyArray<string>
) => Effect.flatMap(scriptedAgent({ versions: [version], ...mood }, ...more), (command) => startAgent(command, changes))

/** The same with a session on it. */
export const startScripted = (
  version: 1 | 2,
  mood: Mood,
  changes: Partial<AgentClient.Options> = {},
  ...more: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const started = yield* startClient(version, mood, changes, ...more)
    const session = yield* started.client.newSession({ cwd: started.cwd })
    return { ...started, session }
  })

/** A prompt that tells the scripted agent what to do. */
export const script = (...steps: ReadonlyArray<Step>): ReadonlyArray<JsonObject> => [
  { type: "text", text: JSON.stringify({ script: steps }) },
]

/** Waits until the session's view is as wanted, looking after each of its updates. */
export const until = (session: Session, wanted: (view: SessionView) => boolean) =>
  Effect.gen(function* () {
    const seen = Stream.runHead(Stream.filterEffect(session.activity(), () => Effect.map(session.view, wanted)))
    const waiting = yield* Effect.forkChild(seen, { startImmediately: true })
    if (wanted(yield* session.view)) return yield* Fiber.interrupt(waiting)
    yield* Fiber.join(waiting)
  })

let begun = 0

/** A turn of the scripted agent that has reached it and done its first step. */
export const beginScript = (session: Session, ...steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const title = `begun ${++begun}`
    const turn = yield* session.begin(script({ title }, ...steps))
    yield* until(session, (view) => view.title === title)
    return turn
  })

/** A test over real processes, in real time. */
export const live = (name: string, effect: () => Effect.Effect<unknown, unknown, Processes.Service | Scope.Scope>) =>
  it.live(name, () => Effect.provide(effect(), Processes.layer))
