import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { SessionStore } from "../src/SessionStore.ts"
import { defaults, StoreLimits } from "../src/StoreLimits.ts"
import type { Finding } from "../src/SubagentStore.ts"
import { onDisk, spec } from "./Backends.ts"
import { directoryOf, made } from "./Made.ts"

const severities = (findings: ReadonlyArray<Finding>) => new Set(findings.map((finding) => finding.severity))

/** Makes the line that holds this unreadable, its length unchanged; what it was. */
const spoil = (file: string, marker: string): string => {
  const lines = fs.readFileSync(file, "utf8").split("\n")
  const at = lines.findIndex((line) => line.includes(marker))
  const line = (lines[at] ?? "").replace("{", "!")
  fs.writeFileSync(file, lines.with(at, line).join("\n"))
  return `${line}\n`
}

describe("repair", () => {
  it.live("sets aside what is damaged in the middle of any file of a log, says so once, and rewrites no line", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const id = yield* Effect.scoped(
          Effect.gen(function* () {
            const { subagents } = yield* store.create({ id: "one", cwd: "/w" })
            const { agent_id } = yield* subagents.create(spec, "")
            for (let n = 0; n < 20; n++) yield* subagents.append(agent_id, { note: `event ${n}.` }, "disk")
            yield* subagents.setStatus(agent_id, "starting", "idle")
            return agent_id
          }),
        )
        const directory = directoryOf(home, id)
        const [sealed, active] = [path.join(directory, "wire.000001.log"), path.join(directory, "wire.log")]
        const damage = [spoil(sealed, "event 2."), spoil(active, "event 18.")]
        const before = [fs.readFileSync(sealed), fs.readFileSync(active)]
        const reader = yield* store.openReader("one")
        expect((yield* reader.subagents.verify(id)).filter(({ severity }) => severity === "error")).toHaveLength(2)

        const session = yield* store.openWriter("one")
        const done = yield* session.subagents.repair(id)
        const kept = done.map(
          ({ message }) => /cannot be read and are skipped; a copy is in (\S+)$/.exec(message)?.[1] ?? message,
        )
        expect(kept.map((file) => fs.readFileSync(file, "utf8"))).toEqual(damage)
        expect(severities(yield* session.subagents.verify(id))).toEqual(new Set(["ok", "warning"]))
        expect(yield* session.subagents.repair(id)).toEqual([])
        expect(fs.readFileSync(sealed)).toEqual(before[0])
        const files = fs.readdirSync(directory).filter((file) => file.startsWith("wire."))
        expect(files.some((file) => fs.readFileSync(path.join(directory, file)).indexOf(before[1] as Buffer) === 0)).toBe(true)
        const events = (yield* Stream.runCollect(session.subagents.replay(id))).flatMap((record) =>
          "gap" in record || record.kind !== "event" ? [] : [(record.body as { readonly note: string }).note],
        )
        const rest = Array.from({ length: 20 }, (_, n) => `event ${n}.`).filter((note) => !/ (2|18)\./.test(note))
        expect(events).toEqual([...rest, "damage_set_aside", "damage_set_aside"])

        spoil(sealed, "event 3.")
        expect((yield* session.subagents.verify(id)).filter(({ severity }) => severity === "error")).toHaveLength(1)
        expect(yield* session.subagents.repair(id)).toHaveLength(1)
        expect(severities(yield* session.subagents.verify(id))).toEqual(new Set(["ok", "warning"]))
      }),
    ).pipe(Effect.provideService(StoreLimits, { ...defaults, rotateBytes: 900 })),
  )

  it.live("tells of records that are missing with the file they were in, and of what it cannot bring back", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const log = path.join(directoryOf(home, id), "wire.log")
        const lines = fs.readFileSync(log, "utf8").split("\n")
        fs.writeFileSync(log, lines.toSpliced(2, 1).join("\n"))
        fs.writeFileSync(path.join(directoryOf(home, id), "prompt.txt"), "another")
        const session = yield* store.openWriter("one")
        const done = yield* session.subagents.repair(id)
        expect(done.map(({ severity, message }) => [severity, message.replace(/^.*\/prompt/, "prompt")])).toEqual([
          ["warning", "segment 1: records 3 to 3 are missing"],
          ["error", expect.stringContaining("prompt.txt is damaged: it is not what was written at creation")],
        ])
        const left = (yield* session.subagents.verify(id)).filter(({ severity }) => severity === "error")
        expect(left.map((finding) => path.basename(finding.path))).toEqual(["prompt.txt"])
      }),
    ),
  )

  it.live("is asked for by verify where others can read the files, and closes them", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const id = yield* made
        const store = yield* SessionStore.Service
        const file = path.join(directoryOf(home, id), "wire.log")
        fs.chmodSync(file, 0o644)
        const session = yield* store.openWriter("one")
        const wide = (findings: ReadonlyArray<Finding>) => findings.filter(({ message }) => message.startsWith("its mode"))
        expect(wide(yield* session.subagents.verify(id))).toEqual([
          { path: file, severity: "warning", message: "its mode is 644; others can use it, until it is repaired" },
        ])
        expect(wide(yield* session.subagents.repair(id))).toHaveLength(1)
        expect(wide(yield* session.subagents.verify(id))).toEqual([])
      }),
    ),
  )
})
