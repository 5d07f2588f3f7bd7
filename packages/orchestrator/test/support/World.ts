import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import type { Harness } from "@acp-kit/orchestrator/Harness"
import type { Inheritance } from "@acp-kit/orchestrator/Inheritance"
import { Limits } from "@acp-kit/orchestrator/Limits"
import { ModelPolicy } from "@acp-kit/orchestrator/ModelPolicy"
import type { SubagentError } from "@acp-kit/orchestrator/SubagentError"
import { type RosterEvent, type Services, Subagents } from "@acp-kit/orchestrator/Subagents"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { Processes } from "@acp-kit/platform/Processes"
import type { Json, JsonObject } from "@acp-kit/runlet/Host"
import type { Disk } from "@acp-kit/store/Disk"
import { Lock } from "@acp-kit/store/Lock"
import { SessionStore } from "@acp-kit/store/SessionStore"
import type { Mood, Step } from "@acp-kit/testing/Mood"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

const agent = fileURLToPath(import.meta.resolve("@acp-kit/testing/scripted-agent"))

export interface Frame {
  readonly pid: number
  readonly dir: "in" | "out"
  readonly message: JsonObject
}

/** What a harness of a test is: a scripted agent in a mood, and what the configuration says of it. */
export interface HarnessSpec extends Partial<Omit<Harness.Profile, "policy" | "reference">> {
  readonly mood?: Mood
  readonly policy?: Partial<ModelPolicy.Policy>
}

export interface Settings {
  readonly harnesses?: Readonly<Record<string, HarnessSpec>>
  readonly depth?: number
  readonly limits?: Partial<Limits.Interface>
  readonly additionalDirectories?: ReadonlyArray<string>
  readonly inherited?: Inheritance
  readonly env?: Readonly<Record<string, string>>
  /** In place of the machine's own disk. */
  readonly disk?: Layer.Layer<Disk.Service>
  /** The session that somebody else made. */
  readonly session?: string
}

/** One run of a parent session. */
export interface Parent extends Subagents.Live {
  readonly session: SessionStore.SessionWriter
  /** Ends this run as the end of a program does. */
  readonly end: Effect.Effect<void>
}

export interface World {
  readonly folder: string
  readonly home: string
  /** Kit's working directory. */
  readonly root: string
  /** Opens the session, anew or again. Only one run at a time. */
  readonly open: (settings?: Partial<Settings>) => Effect.Effect<Parent, never, Scope.Scope>
  /** Frames that a harness read and wrote, of all its processes. */
  readonly frames: (harness?: string) => ReadonlyArray<Frame>
  /** Methods, and `result` or `error`, in the order in which the agent saw them. */
  readonly received: (harness?: string) => ReadonlyArray<string>
  /** What the scripted agents noted: starts, signals. */
  readonly events: (harness?: string) => ReadonlyArray<{ readonly pid: number; readonly event: string; readonly detail?: any }>
  /** Processes of the scripted agents that still run. */
  readonly alive: (harness?: string) => ReadonlyArray<number>
  readonly file: (...parts: ReadonlyArray<string>) => string
  readonly profile: (name: string, spec: HarnessSpec) => Harness.Profile
  /** The transcript items of an `acp.kit` child's own session. */
  readonly transcript: (id: string) => Effect.Effect<ReadonlyArray<any>>
}

const lines = (file: string): ReadonlyArray<any> =>
  Fs.existsSync(file)
    ? Fs.readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
    : []

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !Fs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/, "").trim().startsWith("Z")
  } catch {
    return false
  }
}

const profile = (folder: string, name: string, { mood, policy, ...rest }: HarnessSpec): Harness.Profile => {
  const moodFile = Path.join(folder, `${name}.mood.json`)
  Fs.writeFileSync(moodFile, JSON.stringify(mood ?? {}))
  const state = Path.join(folder, `${name}.state`)
  Fs.mkdirSync(state, { recursive: true })
  return {
    reference: `acp.${name}`,
    name,
    command: process.execPath,
    args: [agent, "--mood-file", moodFile, "--record", Path.join(folder, `${name}.record`), "--state-dir", state],
    source: "configured ACP profile",
    isKit: false,
    ...rest,
    policy: { ...ModelPolicy.none, ...policy },
  }
}

/** A home, a working directory and a session of their own for one test; all of it is gone afterwards. */
export const make = Effect.fnUntraced(function* (settings: Settings = {}): Effect.fn.Return<World, never, Scope.Scope> {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "kit-orchestrator-")))),
    (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true, force: true })),
  )
  const home = Path.join(folder, "home")
  const root = Path.join(folder, "root")
  Fs.mkdirSync(root)
  const self = [process.execPath, agent] as const
  let opened: string | undefined

  const open = Effect.fnUntraced(function* (more: Partial<Settings> = {}): Effect.fn.Return<Parent, never, Scope.Scope> {
    const all = { ...settings, ...more }
    const env = { ...(process.env as Record<string, string>), ...all.env }
    const host = { env, kitHome: home, cwd: root, self, version: "9.9.9" }
    const profiles = Object.entries(all.harnesses ?? { review: {} }).map(([name, spec]) => profile(folder, name, spec))
    const scope = yield* Scope.fork(yield* Effect.scope)
    const services: Layer.Layer<Services | SessionStore.Service> = Layer.mergeAll(
      Processes.layer,
      Files.layer,
      Host.layerWith(host),
      JsonSchemas.layer,
      all.disk === undefined
        ? SessionStore.layerWith({ home })
        : SessionStore.layerDisk({ home }).pipe(Layer.provide(Layer.mergeAll(all.disk, Lock.layer))),
      Limits.layerWith(all.limits ?? {}),
    )
    const context = yield* Effect.provideService(Layer.build(services), Scope.Scope, scope)
    return yield* Effect.gen(function* () {
      const store = yield* SessionStore.Service
      const known = all.session ?? opened
      const session = yield* known === undefined ? store.create({ cwd: root }) : store.openWriter(known)
      opened = session.id
      const subagents = yield* Subagents.make({
        session,
        depth: all.depth ?? 0,
        root,
        additionalDirectories: all.additionalDirectories ?? [],
        harnesses: { profiles, default: profiles[0]!.reference },
        inherited: Effect.succeed(all.inherited ?? {}),
      })
      return { ...subagents, session, end: Scope.close(scope, Exit.void) }
    }).pipe(Effect.provideContext(context), Effect.provideService(Scope.Scope, scope), Effect.orDie)
  })

  const record = (name = "review") => lines(Path.join(folder, `${name}.record`))
  const frames = (name?: string): ReadonlyArray<Frame> =>
    record(name)
      .filter((entry) => entry.dir === "in" || entry.dir === "out")
      .flatMap((entry) => {
        try {
          return [{ pid: entry.pid, dir: entry.dir, message: JSON.parse(entry.line) }]
        } catch {
          return []
        }
      })
  const events = (name?: string) => record(name).filter((entry) => entry.dir === "event")
  return {
    folder,
    home,
    root,
    open,
    frames,
    events,
    received: (name) =>
      frames(name)
        .filter((frame) => frame.dir === "in")
        .map(({ message }) => (typeof message.method === "string" ? message.method : "error" in message ? "error" : "result")),
    alive: (name) => [...new Set(events(name).map((entry) => entry.pid))].filter(isAlive),
    transcript: (id) =>
      Effect.flatMap(SessionStore.Service, (store) => Effect.flatMap(store.openReader(id), (session) => session.items)).pipe(
        Effect.provide(SessionStore.layerWith({ home })),
        Effect.orDie,
      ),
    profile: (name, spec) => profile(folder, name, spec),
    file: (...parts) => Path.join(folder, ...parts),
  }
})

/** A prompt that tells the scripted agent what to do. */
export const script = (...steps: ReadonlyArray<Step>): string => JSON.stringify({ script: steps })

/** The failure of a verb. */
export const failure = <A>(effect: Effect.Effect<A, SubagentError>): Effect.Effect<SubagentError> =>
  Effect.orDie(Effect.flip(effect))

/** Collects roster events for as long as the scope lives. */
export const watch = Effect.fnUntraced(function* (parent: Subagents.Interface) {
  const seen: Array<RosterEvent> = []
  const waiting: Array<{ readonly holds: (event: RosterEvent) => boolean; readonly done: Deferred.Deferred<RosterEvent> }> = []
  yield* Effect.forkScoped(
    Stream.runForEach(parent.events, (event) =>
      Effect.sync(() => {
        seen.push(event)
        for (const { holds, done } of waiting) if (holds(event)) Deferred.doneUnsafe(done, Effect.succeed(event))
      }),
    ),
    { startImmediately: true },
  )
  return {
    seen,
    /** The first event, of those seen and those to come, that holds. */
    until: (holds: (event: RosterEvent) => boolean): Effect.Effect<RosterEvent> =>
      Effect.suspend(() => {
        const before = seen.find(holds)
        if (before !== undefined) return Effect.succeed(before)
        const done = Deferred.makeUnsafe<RosterEvent>()
        waiting.push({ holds, done })
        return Deferred.await(done)
      }),
  }
})

/** Waits until a file exists: the scripted agent has come that far. */
export const appears = (file: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (Fs.existsSync(file)) return resume(Effect.void)
    const watcher = Fs.watch(Path.dirname(file), () => {
      if (!Fs.existsSync(file)) return
      watcher.close()
      resume(Effect.void)
    })
    if (Fs.existsSync(file)) {
      watcher.close()
      resume(Effect.void)
    }
    return Effect.sync(() => watcher.close())
  })

export const touch = (file: string): Effect.Effect<void> => Effect.sync(() => Fs.writeFileSync(file, ""))

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export * as World from "./World.ts"
