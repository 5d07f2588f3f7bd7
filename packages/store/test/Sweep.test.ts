import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SessionStore } from "../src/SessionStore.ts"
import { temporaryHome } from "./Backends.ts"
import { command, start } from "./Launch.ts"
import { check, type Fact } from "./Workload.ts"

const traced = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,ftruncate"
const faults = ["signal=SIGKILL", "error=EIO", "error=ENOSPC", "error=EACCES"]

/** Runs per fault; `KIT_TEST_SWEEP=all` tries every call. */
const perFault = process.env.KIT_TEST_SWEEP === "all" ? Number.POSITIVE_INFINITY : 12

const wanted = process.env.KIT_TEST_CI === "1" && spawnSync("strace", ["-V"]).status === 0

/** The work in a process of its own under strace, with one fault or none. */
const worked = (home: string, log: string, inject: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const words = command("Worker", [home, "3"])
    const process = start(["strace", "-f", "-qq", "-y", "-s", "0", "-o", log, "-e", `trace=${traced}`, ...inject, ...words])
    const facts: Array<Fact> = []
    let end: string | undefined
    for (let line = await process.line(); line !== undefined; line = await process.line()) {
      if (!/^[{"]/.test(line)) continue
      const value = JSON.parse(line) as Fact | string
      if (typeof value === "string") end = value
      else facts.push(value)
    }
    return { facts, end, stderr: process.stderr() }
  })

/** The calls of a trace that touch the home: name, and the how-many-th of that name in its thread. */
const oursIn = (log: string, home: string) => {
  const seen = new Map<string, number>()
  const ours = new Map<string, { readonly call: string; readonly when: number }>()
  for (const line of fs.readFileSync(log, "utf8").split("\n")) {
    const match = /^(\d+) +(\w+)\(/.exec(line)
    if (match === null) continue
    const [, thread, call] = match as unknown as [string, string, string]
    const when = (seen.get(`${thread} ${call}`) ?? 0) + 1
    seen.set(`${thread} ${call}`, when)
    if (line.includes(home)) ours.set(`${call} ${when}`, { call, when })
  }
  return [...ours.values()]
}

describe.skipIf(!wanted)("system calls that fail or kill", () => {
  it.live(
    "T1 at any of them, nothing acknowledged is lost and every failure is typed",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const scratch = yield* temporaryHome
          const log = path.join(scratch, "trace")
          const home = path.join(scratch, "home")
          const baseline = yield* worked(home, log, [])
          expect(baseline.end).toBe("end")
          const calls = oursIn(log, home)
          const names = calls.map(({ call }) => call)
          expect(names).toEqual(expect.arrayContaining(["openat", "write", "fdatasync", "fsync", "rename", "mkdir"]))
          let tried = 0
          let taken = 0
          for (const fault of faults) {
            const step = Math.max(1, Math.ceil(calls.length / perFault))
            for (let at = tried % step; at < calls.length; at += step) {
              const { call, when } = calls[at] as (typeof calls)[number]
              fs.rmSync(home, { recursive: true, force: true })
              const { facts, end, stderr } = yield* worked(home, log, ["-e", `inject=${call}:${fault}:when=${when}`])
              tried++
              const isKill = fault.startsWith("signal")
              const trace = fs.readFileSync(log, "utf8").split("\n")
              const isOurs = trace.some((line) => line.includes("(INJECTED)") && line.includes(home))
              if (isKill ? end === undefined : isOurs) taken++
              const broken = yield* check(facts, false).pipe(Effect.provide(SessionStore.layerWith({ home })))
              // A runtime may die of a fault in a call of its own; of one in ours nobody may.
              const died = end === undefined && isOurs && !isKill ? stderr : ""
              expect({ fault, call, when, broken, died }).toEqual({ fault, call, when, broken: [], died: "" })
            }
          }
          console.log(`${calls.length} calls, ${tried} faults tried, ${taken} taken, 0 violations`)
        }),
      ),
    3_600_000,
  )
})
