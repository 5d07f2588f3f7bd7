import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { type Command, Processes } from "../src/Processes.ts"
import * as ProcessTable from "../src/ProcessTable.ts"
import { child, directory, drain, firstLine, running } from "./Fixture.ts"

const spawn = (command: Command) => Effect.flatMap(Processes.Service, (processes) => processes.spawn(command))

const live = <E>(name: string, effect: () => Effect.Effect<unknown, E, Processes.Service | Scope.Scope>) =>
  it.live(name, () => Effect.scoped(effect()).pipe(Effect.provide(Processes.layer)))

const quick = { eof: "2 seconds", term: "300 millis" } as const
const family = Effect.fnUntraced(function* (command: Command) {
  const scope = yield* Scope.make()
  const leader = yield* Scope.provide(spawn(command), scope)
  const pids = (yield* firstLine(leader.read)) as ReadonlyArray<number>
  return { scope, leader, pids }
})

describe("pipes", () => {
  live("carry bytes both ways", () =>
    Effect.gen(function* () {
      const echo = yield* spawn(child("echo"))
      yield* echo.write("one\n")
      expect(Buffer.from((yield* echo.read) ?? []).toString()).toBe("one\n")
      yield* echo.write(new TextEncoder().encode("two\n"))
      expect(Buffer.from((yield* echo.read) ?? []).toString()).toBe("two\n")
      yield* echo.endInput
      expect(yield* echo.read).toBeUndefined()
      expect(yield* echo.exit).toEqual({ code: 0, signal: undefined })
    }),
  )

  live("keep stdout and stderr apart", () =>
    Effect.gen(function* () {
      const both = yield* spawn(child("both"))
      const [out, err] = yield* Effect.all([drain(both.read), drain(both.readError)], { concurrency: 2 })
      expect([String(out), String(err)]).toEqual(["to stdout\n", "to stderr\n"])
    }),
  )

  live("bring 64 MiB through whole", () =>
    Effect.gen(function* () {
      const flood = yield* spawn(child("flood", String(64 << 20)))
      const bytes = yield* drain(flood.read)
      expect(bytes.length).toBe(64 << 20)
    }),
  )

  live("R35 make the process wait while nobody reads", () =>
    Effect.gen(function* () {
      const progress = join(yield* directory, "progress")
      const flood = yield* spawn(child("flood", String(64 << 20), progress))
      yield* flood.read
      const written = Effect.sync(() => (existsSync(progress) ? Number(readFileSync(progress, "utf8")) : 0))
      let before = -1
      for (let now = yield* written; now !== before || now === 0; now = yield* written) {
        before = now
        yield* Effect.sleep("200 millis")
      }
      expect(before).toBeLessThan(4 << 20)
      const rest = yield* drain(flood.read)
      expect(rest.length).toBeGreaterThan(60 << 20)
    }),
  )

  live("make the writer wait while the process does not read", () =>
    Effect.gen(function* () {
      const deaf = yield* spawn({ ...child("deafToAll"), ladder: { eof: 0, term: 0 } })
      yield* firstLine(deaf.read)
      const write = deaf.write(new Uint8Array(4 << 20)).pipe(Effect.as("taken"), Effect.timeout("300 millis"), Effect.exit)
      expect(Exit.isFailure(yield* write)).toBe(true)
    }),
  )

  live("answer a write to a process that closed its input with PipeClosed", () =>
    Effect.gen(function* () {
      const script = "exec <&-; echo 1; exec sleep 3600"
      const closed = yield* spawn({ ...child("echo"), command: "sh", args: ["-c", script], ladder: { eof: 0, term: "1 second" } })
      yield* firstLine(closed.read)
      const failure = yield* Effect.flip(Effect.forever(closed.write(new Uint8Array(64 << 10))))
      expect(failure._tag).toBe("PipeClosed")
      expect((yield* Effect.flip(closed.write("again")))._tag).toBe("PipeClosed")
    }),
  )

  live("answer a write to a process that is gone with PipeClosed", () =>
    Effect.gen(function* () {
      const gone = yield* spawn(child("exit", "0"))
      yield* gone.exit
      const failure = yield* Effect.flip(Effect.forever(gone.write("x")))
      expect(failure._tag).toBe("PipeClosed")
    }),
  )

  live("end when the process is gone though something it started holds them", () =>
    Effect.gen(function* () {
      const holder = yield* spawn({ ...child("holder"), ladder: quick })
      const [pid] = (yield* firstLine(holder.read)) as ReadonlyArray<number>
      expect(yield* holder.exit).toEqual({ code: 0, signal: undefined })
      expect(yield* holder.read).toBeUndefined()
      expect(yield* running([pid ?? 0])).toEqual([pid])
    }),
  )
})

describe("a process", () => {
  live("tells its exit code", () =>
    Effect.gen(function* () {
      const three = yield* spawn(child("exit", "3"))
      expect(yield* three.exit).toEqual({ code: 3, signal: undefined })
    }),
  )

  live("tells the signal that ended it", () =>
    Effect.gen(function* () {
      const killed = yield* spawn(child("signal", "SIGKILL"))
      expect(yield* killed.exit).toEqual({ code: undefined, signal: "SIGKILL" })
    }),
  )

  live("S120 gets the directory and exactly the environment of the command, and the mark", () =>
    Effect.gen(function* () {
      const cwd = yield* directory
      const where = yield* spawn({ ...child("where"), cwd, env: { PATH: process.env.PATH ?? "", ONLY: "this" } })
      const told = (yield* firstLine(where.read)) as { cwd: string; env: Record<string, string> }
      expect(told.cwd).toBe(cwd)
      expect(Object.keys(told.env).sort()).toEqual(["KIT_CHILD_MARK", "ONLY", "PATH"])
      expect(told.env.KIT_CHILD_MARK?.split(":").at(-1)).toBe(where.mark)
    }),
  )

  live("S120 is never run by a shell: arguments arrive as they are", () =>
    Effect.gen(function* () {
      const said = yield* spawn({ ...child("where"), command: "printf", args: ["%s|", "$HOME", "a b", "`id`", "*", ""] })
      expect(String(yield* drain(said.read))).toBe("$HOME|a b|`id`|*||")
    }),
  )

  live("leads a process group of its own", () =>
    Effect.gen(function* () {
      const polite = yield* spawn(child("polite"))
      const entry = yield* ProcessTable.system.lookup(polite.pid)
      expect(entry?.group).toBe(polite.pid)
    }),
  )

  live("carries the marks of the processes above it below its own", () =>
    Effect.gen(function* () {
      const base = child("where")
      const where = yield* spawn({ ...base, env: { ...base.env, KIT_CHILD_MARK: "grandparent:parent" } })
      const { env } = (yield* firstLine(where.read)) as { env: Record<string, string> }
      expect(env.KIT_CHILD_MARK).toBe(`grandparent:parent:${where.mark}`)
    }),
  )

  live("is one of fifty at once", () =>
    Effect.gen(function* () {
      const codes = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, n) => n),
        (n) =>
          Effect.scoped(
            Effect.flatMap(spawn({ ...child("where"), command: "sh", args: ["-c", `exit ${n}`] }), (one) => one.exit),
          ),
        { concurrency: 16 },
      )
      expect(codes.map(({ code }) => code)).toEqual(Array.from({ length: 50 }, (_, n) => n))
    }),
  )
})

describe("a spawn that fails", () => {
  const reasonOf = (command: Command) =>
    Effect.map(Effect.flip(spawn(command)), ({ _tag, command, reason }) => [_tag, command, reason])

  live("names ENOENT for a name that is not on PATH", () =>
    Effect.gen(function* () {
      const nowhere = { ...child("exit"), command: "no-such-program-of-kit" }
      expect(yield* reasonOf(nowhere)).toEqual(["SpawnFailed", "no-such-program-of-kit", "ENOENT"])
    }),
  )

  live("names EACCES for a file that may not be executed", () =>
    Effect.gen(function* () {
      const file = join(yield* directory, "plain")
      writeFileSync(file, "")
      expect(yield* reasonOf({ ...child("exit"), command: file })).toEqual(["SpawnFailed", file, "EACCES"])
    }),
  )

  live("names ENOENT for a script whose interpreter is missing", () =>
    Effect.gen(function* () {
      const file = join(yield* directory, "script")
      writeFileSync(file, "#!/no/such/interpreter\n")
      chmodSync(file, 0o755)
      expect(yield* reasonOf({ ...child("exit"), command: file })).toEqual(["SpawnFailed", file, "ENOENT"])
    }),
  )

  live("names ENOENT for a directory that does not exist", () =>
    Effect.gen(function* () {
      const [, , reason] = yield* reasonOf({ ...child("exit"), cwd: join(tmpdir(), "no-such-directory-of-kit") })
      expect(reason).toBe("ENOENT")
    }),
  )

  live("is typed too where an argument cannot be passed", () =>
    Effect.gen(function* () {
      expect((yield* reasonOf({ ...child("exit"), args: ["\0"] }))[0]).toBe("SpawnFailed")
    }),
  )
})

describe("stop", () => {
  live("lets a process leave at the end of its input", () =>
    Effect.gen(function* () {
      const polite = yield* spawn(child("polite"))
      yield* firstLine(polite.read)
      expect(yield* polite.stop()).toEqual({ code: 0, signal: undefined })
    }),
  )

  live("R33 sends TERM to a process that is deaf to the end of its input", () =>
    Effect.gen(function* () {
      const deaf = yield* spawn(child("deafToEnd"))
      yield* firstLine(deaf.read)
      expect(yield* deaf.stop({ eof: "50 millis", term: "5 seconds" })).toEqual({ code: 7, signal: undefined })
    }),
  )

  live("R33 sends KILL to a process that ignores TERM", () =>
    Effect.gen(function* () {
      const deaf = yield* spawn(child("deafToAll"))
      yield* firstLine(deaf.read)
      expect(yield* deaf.stop({ eof: "50 millis", term: "50 millis" })).toEqual({ code: undefined, signal: "SIGKILL" })
    }),
  )

  live("may be called twice, at once and afterwards", () =>
    Effect.gen(function* () {
      const deaf = yield* spawn(child("deafToEnd"))
      yield* firstLine(deaf.read)
      const ladder = { eof: "50 millis", term: "5 seconds" } as const
      const both = yield* Effect.all([deaf.stop(ladder), deaf.stop(ladder)], { concurrency: 2 })
      expect(both).toEqual([
        { code: 7, signal: undefined },
        { code: 7, signal: undefined },
      ])
      expect(yield* deaf.stop()).toEqual({ code: 7, signal: undefined })
    }),
  )

  live("goes on to its end when its caller is interrupted", () =>
    Effect.gen(function* () {
      const deaf = yield* spawn(child("deafToAll"))
      yield* firstLine(deaf.read)
      const stopping = yield* Effect.forkChild(deaf.stop({ eof: "50 millis", term: "50 millis" }), { startImmediately: true })
      yield* Fiber.interrupt(stopping)
      expect(yield* running([deaf.pid])).toEqual([])
    }),
  )

  live("keeps the last words of the process readable", () =>
    Effect.gen(function* () {
      const slow = yield* spawn(child("lastWords", "5"))
      yield* firstLine(slow.read)
      yield* slow.stop()
      expect(String(yield* drain(slow.read))).toBe("xxxxx")
    }),
  )
})

describe("the end of the scope", () => {
  live("C05 R20 leaves neither the process nor a grandchild, one in a session of its own and deaf to TERM included", () =>
    Effect.gen(function* () {
      const { scope, leader, pids } = yield* family({ ...child("family"), ladder: quick })
      expect(yield* running([leader.pid, ...pids])).toEqual([leader.pid, ...pids])
      yield* Scope.close(scope, Exit.void)
      expect(yield* running([leader.pid, ...pids])).toEqual([])
      expect(yield* ProcessTable.marked(leader.mark)).toEqual([])
    }),
  )

  live("R20 leaves no descendant that has cleared its environment and left the group", () =>
    Effect.gen(function* () {
      const { scope, pids } = yield* family({ ...child("scrubbed"), ladder: quick })
      expect(yield* running(pids)).toEqual(pids)
      yield* Scope.close(scope, Exit.void)
      expect(yield* running(pids)).toEqual([])
    }),
  )

  live("R20 leaves nothing that a process which ended long before had started and that left the group", () =>
    Effect.gen(function* () {
      const { scope, leader, pids } = yield* family({ ...child("orphans"), ladder: quick })
      yield* leader.exit
      expect(yield* running(pids)).toEqual(pids)
      yield* Scope.close(scope, Exit.void)
      expect(yield* running(pids)).toEqual([])
    }),
  )

  live("reads the output away that a process must be rid of before it can leave", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const ladder = { eof: "20 seconds", term: 0 } as const
      const talker = yield* Scope.provide(spawn({ ...child("lastWords", String(8 << 20)), ladder }), scope)
      yield* firstLine(talker.read)
      yield* Scope.close(scope, Exit.void)
      expect(yield* talker.exit).toEqual({ code: 0, signal: undefined })
    }),
  )

  live("ends a read that waits", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const polite = yield* Scope.provide(spawn(child("polite")), scope)
      yield* firstLine(polite.read)
      const reading = yield* Effect.forkChild(polite.read, { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(reading)).toBeUndefined()
    }),
  )

  live("C05 comes with the interruption of the fiber", () =>
    Effect.gen(function* () {
      const started = Promise.withResolvers<ReadonlyArray<number>>()
      const fiber = yield* Effect.forkChild(
        Effect.scoped(
          Effect.gen(function* () {
            const leader = yield* spawn({ ...child("family"), ladder: quick })
            const pids = (yield* firstLine(leader.read)) as ReadonlyArray<number>
            started.resolve([leader.pid, ...pids])
            yield* leader.exit
          }),
        ),
      )
      const pids = yield* Effect.promise(() => started.promise)
      yield* Fiber.interrupt(fiber)
      expect(yield* running(pids)).toEqual([])
    }),
  )
})

describe("reapMarked", () => {
  live("ends what a vanished parent left, and counts it", () =>
    Effect.gen(function* () {
      const { leader, pids } = yield* family({ ...child("family"), ladder: quick })
      const processes = yield* Processes.Service
      expect(yield* processes.reapMarked(leader.mark)).toBe(4)
      expect(yield* running([leader.pid, ...pids])).toEqual([])
      expect(yield* processes.reapMarked(leader.mark)).toBe(0)
    }),
  )

  live("takes no mark for the beginning of another", () =>
    Effect.gen(function* () {
      const polite = yield* spawn(child("polite"))
      yield* firstLine(polite.read)
      const processes = yield* Processes.Service
      expect(yield* processes.reapMarked(polite.mark.slice(0, -1))).toBe(0)
      expect(yield* running([polite.pid])).toEqual([polite.pid])
    }),
  )
})
