import * as NodeProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type Child, type Command, defaultLadder, type ExitStatus, type Ladder, PipeClosed, SpawnFailed } from "./Child.ts"
import { find } from "./Executable.ts"
import { variable, withMark } from "./Mark.ts"
import { system } from "./ProcessTable.ts"
import { PulledStream } from "./PulledStream.ts"
import { end, type Family, forget, members, track } from "./Sweep.ts"
import { codeOf } from "./SystemFailure.ts"

/** How long after the last signal the runtime may take to tell that the process has ended. */
const telling = "5 seconds"

type Started = NodeProcess.ChildProcessWithoutNullStreams

const isDirectory = (path: string): boolean => {
  try {
    return Fs.statSync(path).isDirectory()
  } catch {
    return false
  }
}

const start = (command: Command, file: string, mark: string): Effect.Effect<Started, SpawnFailed> =>
  Effect.callback((resume) => {
    const failed = (cause: unknown) => resume(Effect.fail(new SpawnFailed({ command: command.command, reason: codeOf(cause) })))
    try {
      const started = NodeProcess.spawn(file, command.args, {
        cwd: command.cwd,
        env: withMark(command.env, process.env[variable], mark),
        detached: true,
        shell: false,
        stdio: "pipe",
      })
      started.once("error", failed)
      if (started.pid !== undefined) resume(Effect.succeed(started))
    } catch (cause) {
      failed(cause)
    }
  })

/** A child as its scope sees it. */
export interface Owned extends Child {
  /** Drops the output that nobody will read, stops the process and frees its pipes. */
  readonly release: Effect.Effect<void>
}

/** Starts a process whose environment carries the mark. Whoever calls this must release it. */
export const make = Effect.fnUntraced(function* (command: Command, mark: string) {
  const refused = (reason: string) => new SpawnFailed({ command: command.command, reason })
  if (!isDirectory(command.cwd)) return yield* refused("ENOENT")
  const file = yield* Effect.mapError(find(command.command, command.env.PATH, command.cwd), refused)
  const started = yield* start(command, file, mark)
  return yield* own(started, command.ladder ?? defaultLadder, mark)
})

const own = Effect.fnUntraced(function* (started: Started, ladder: Ladder, mark: string) {
  const pid = started.pid ?? 0
  const exited = Deferred.makeUnsafe<ExitStatus>()
  const stopped = Deferred.makeUnsafe<ExitStatus>()
  const stdout = PulledStream.make(started.stdout)
  const stderr = PulledStream.make(started.stderr)
  started.on("error", () => {})
  let deaf = false
  started.stdin.on("error", () => {
    deaf = true
  })
  started.once("exit", (code, signal) => {
    Deferred.doneUnsafe(exited, Effect.succeed({ code: code ?? undefined, signal: signal ?? undefined }))
    stdout.ownerExited()
    stderr.ownerExited()
  })
  const holder = yield* system.lookup(pid)
  const family: Family = { mark, noted: new Set(), ...(holder === undefined ? {} : { leader: holder }) }
  track(family)
  const exit = Deferred.await(exited)

  const endInput = Effect.sync(() => {
    started.stdin.end()
  })

  const write = (bytes: Uint8Array | string) =>
    Effect.callback<void, PipeClosed>((resume) => {
      const closed = Effect.fail(new PipeClosed())
      if (deaf || started.stdin.writableEnded || started.stdin.destroyed) return resume(closed)
      started.stdin.write(bytes, (cause) => {
        deaf ||= cause !== undefined && cause !== null
        resume(deaf ? closed : Effect.void)
      })
    })

  const walk = Effect.fnUntraced(function* ({ eof, term }: Ladder) {
    yield* members(family)
    yield* endInput
    yield* Effect.timeoutOption(Effect.interruptible(exit), eof)
    yield* end(family, term)
    forget(family)
    const known = yield* Effect.timeoutOption(Effect.interruptible(exit), telling)
    return known._tag === "Some" ? known.value : { code: undefined, signal: "SIGKILL" }
  })

  let stopping = false
  const stop = (own: Ladder = ladder) =>
    Effect.suspend(() => {
      if (stopping) return Deferred.await(stopped)
      stopping = true
      return Effect.onExit(walk(own), (result) => Deferred.done(stopped, result))
    }).pipe(Effect.uninterruptible)

  const free = Effect.sync(() => {
    for (const pipe of [started.stdin, started.stdout, started.stderr]) pipe.destroy()
  })

  const release = Effect.sync(() => {
    stdout.abandon()
    stderr.abandon()
  }).pipe(Effect.andThen(stop()), Effect.andThen(free))

  const child: Owned = {
    pid,
    mark,
    read: stdout.read,
    readError: stderr.read,
    write,
    endInput,
    exit,
    stop,
    release,
  }
  return child
})
