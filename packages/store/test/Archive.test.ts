import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { DiskFaulty } from "../src/DiskFaulty.ts"
import { DiskNode } from "../src/DiskNode.ts"
import { Lock } from "../src/Lock.ts"
import { SessionStore } from "../src/SessionStore.ts"
import type { StoreError } from "../src/StoreError.ts"
import { childOf, onDisk, spec, temporaryHome } from "./Backends.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const codeOf = <A>(effect: Effect.Effect<A, StoreError>) => Effect.map(Effect.flip(effect), (error) => error.code)

/** All that a session says, with one agent of it. */
const seen = (id: string, agent: string) =>
  Effect.gen(function* () {
    const store = yield* SessionStore.Service
    const session = yield* store.openReader(id)
    const { meta, prompt, context } = yield* session.subagents.load(agent)
    const records = yield* Stream.runCollect(session.subagents.replay(agent))
    return {
      info: yield* session.info,
      items: yield* session.items,
      children: yield* session.children,
      meta,
      prompt,
      context,
      records,
    }
  })

const made = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  const session = yield* store.create({ id: "one", cwd: "/w", title: "One" })
  const { agent_id } = yield* session.subagents.create(spec, "You are kind.")
  yield* session.subagents.append(agent_id, { direction: "out", frame: '{"id":1}' })
  yield* session.subagents.saveContext(agent_id, { messages: ["a"] })
  yield* session.subagents.setStatus(agent_id, "starting", "idle")
  yield* session.appendItem("item")
  yield* session.appendChild(childOf(agent_id))
  return agent_id
})

describe("exports", () => {
  it.live("of a session that is open become the same session in another home", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const target = path.join(home, "out/one")
        const agent = yield* made
        const store = yield* SessionStore.Service
        yield* store.exportTo("one", target)
        expect(yield* codeOf(store.exportTo("one", target))).toBe("INVALID")
        expect(fs.readdirSync(target).sort()).toEqual(["manifest.json", "session.json", "subagents", "transcript.jsonl"])
        const before = yield* seen("one", agent)
        const other = yield* temporaryHome
        yield* Effect.gen(function* () {
          const elsewhere = yield* SessionStore.Service
          expect(yield* elsewhere.importFrom(target)).toMatchObject({ id: "one", files: 6 })
          expect(yield* seen("one", agent)).toEqual(before)
          expect(yield* codeOf(elsewhere.importFrom(target))).toBe("ALREADY_EXISTS")
          const session = yield* elsewhere.openWriter("one")
          expect(session.warnings).toEqual([])
          yield* session.subagents.append(agent, { note: "more" }, "disk")
        }).pipe(Effect.scoped, Effect.provide(SessionStore.layerWith({ home: other })))
      }),
    ),
  )

  it.live("take the sessions of nested Kits along, and bring all of them or none", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const agent = yield* Effect.scoped(made)
        const store = yield* SessionStore.Service
        const inner = yield* Effect.scoped(
          Effect.gen(function* () {
            const session = yield* store.create({ id: agent, cwd: "/w", origin: "subagent" })
            yield* session.appendItem("of the nested one")
            return (yield* session.subagents.create(spec, "")).agent_id
          }),
        )
        yield* Effect.scoped(store.create({ id: inner, cwd: "/w", origin: "subagent" }))
        const out = path.join(home, "out")
        yield* store.exportTo("one", out)
        expect(fs.readdirSync(path.join(out, "nested")).sort()).toEqual([agent, inner].sort())
        const sessions = path.join(home, "sessions")
        expect(yield* codeOf(store.importFrom(out))).toBe("ALREADY_EXISTS")
        yield* store.delete("one")
        expect(fs.readdirSync(sessions)).toEqual([])
        yield* Effect.scoped(store.create({ id: inner, cwd: "/w" }))
        expect(yield* codeOf(store.importFrom(out))).toBe("ALREADY_EXISTS")
        expect(fs.readdirSync(sessions)).toEqual([inner])
        yield* store.delete(inner)
        expect(yield* store.importFrom(out)).toMatchObject({ id: "one", files: 6 + 6 + 2 })
        expect(fs.readdirSync(sessions).sort()).toEqual(["one", agent, inner].sort())
        expect(yield* Effect.flatMap(store.openReader(agent), (session) => session.items)).toEqual(["of the nested one"])
        yield* store.delete("one")
        const nested = path.join(out, "nested", inner, "session.json")
        const manifest = path.join(out, "manifest.json")
        const text = fs.readFileSync(nested, "utf8").replace('"subagent"', '"top_level"')
        const kept = fs.readFileSync(manifest, "utf8")
        const before = sha256(fs.readFileSync(nested, "utf8"))
        fs.writeFileSync(nested, text)
        const size = Buffer.byteLength(text)
        fs.writeFileSync(
          manifest,
          kept.replace(new RegExp(`"bytes": \\d+,\\s*"sha256": "${before}"`), `"bytes": ${size}, "sha256": "${sha256(text)}"`),
        )
        expect((yield* Effect.flip(store.importFrom(out))).message).toContain("it is not that of an agent")
        expect(fs.readdirSync(sessions)).toEqual([])
      }),
    ),
  )

  it.live("of a log with a torn tail stop at its last whole line", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const agent = yield* Effect.scoped(made)
        fs.appendFileSync(path.join(home, "sessions/one/subagents", agent, "wire.log"), '{"q":5,"t')
        const store = yield* SessionStore.Service
        yield* store.exportTo("one", path.join(home, "out"))
        const log = fs.readFileSync(path.join(home, "out/subagents", agent, "wire.log"), "utf8")
        expect(log.endsWith("}\n")).toBe(true)
      }),
    ),
  )

  it.live("that were changed, or whose names lead elsewhere, are refused and leave nothing", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const agent = yield* Effect.scoped(made)
        const store = yield* SessionStore.Service
        const out = path.join(home, "out")
        yield* store.exportTo("one", out)
        yield* store.delete("one")
        const manifest = path.join(out, "manifest.json")
        /** The same, behind a link. */
        const link = (name: string) => {
          fs.renameSync(name, `${out}.aside`)
          fs.symlinkSync(`${out}.aside`, name)
        }
        /** Changes a file and its checksum. */
        const rewrite = (name: string, from: string, to: string) => {
          const text = fs.readFileSync(name, "utf8").replace(from, to)
          fs.writeFileSync(name, text)
          const entry = `"path": "session.json",\n      "bytes": ${text.length},\n      "sha256": "${sha256(text)}"`
          fs.writeFileSync(manifest, kept.replace(/"path": "session.json",\s*"bytes": \d+,\s*"sha256": "\w+"/, entry))
        }
        const kept = fs.readFileSync(manifest, "utf8")
        const attempts: Array<() => void> = [
          () => fs.appendFileSync(path.join(out, "subagents", agent, "prompt.txt"), "!"),
          () => fs.truncateSync(path.join(out, "transcript.jsonl"), 10),
          ...[
            "../../evil",
            "/etc/passwd",
            "subagents/../../x",
            ".writer.lock",
            "subagents/x/meta.json",
            "a\\b",
            "session.json/",
            "nested/x/session.json",
            "nested/session.json",
            `nested/${agent}/../x`,
            `nested/${agent}/nested/${agent}/session.json`,
          ].map((name) => () => fs.writeFileSync(manifest, kept.replace('"session.json"', JSON.stringify(name)))),
          () => fs.writeFileSync(manifest, kept.replace('"session_id": "one"', '"session_id": "../one"')),
          () => fs.writeFileSync(manifest, kept.replace('"session_id": "one"', '"session_id": "two"')),
          () => fs.writeFileSync(manifest, kept.replace("prompt.txt", "meta.json")),
          () => fs.writeFileSync(manifest, kept.replace(/"bytes": \d+/, '"bytes": -1')),
          () => fs.writeFileSync(manifest, kept.replace(/"bytes": \d+/, '"bytes": 9007199254740991')),
          () => fs.truncateSync(manifest, 65 * 1024 * 1024),
          () => fs.appendFileSync(path.join(out, "transcript.jsonl"), "x"),
          () => fs.rmSync(path.join(out, "transcript.jsonl")),
          () => link(path.join(out, "session.json")),
          () => link(path.join(out, "subagents")),
          () => link(manifest),
          () => rewrite(path.join(out, "session.json"), '"min_reader": 1', '"min_reader": 9'),
          () => fs.writeFileSync(manifest, '{"schema":"session.export","version":1}'),
          () => fs.writeFileSync(manifest, kept.replace('"min_reader": 1', '"min_reader": 2')),
          () => fs.rmSync(manifest),
        ]
        const codes: Array<string> = []
        for (const attempt of attempts) {
          const copy = fs.cpSync(out, `${out}.kept`, { recursive: true })
          attempt()
          codes.push(yield* codeOf(store.importFrom(out)))
          fs.rmSync(out, { recursive: true })
          fs.rmSync(`${out}.aside`, { recursive: true, force: true })
          fs.renameSync(`${out}.kept`, out)
          expect(copy).toBeUndefined()
        }
        expect(new Set(codes)).toEqual(new Set(["CORRUPT", "INVALID_ID", "NEWER_VERSION", "INVALID"]))
        expect(fs.readdirSync(path.join(home, "sessions"))).toEqual([])
        expect(yield* store.importFrom(out)).toMatchObject({ id: "one" })
      }),
    ),
  )
})

describe("at any call that fails", () => {
  /** Runs a call of a store again and again, each time with one more of its disk's calls before the one that fails; how often it failed. */
  const failing = Effect.fnUntraced(function* (
    home: string,
    use: (store: SessionStore.Interface) => Effect.Effect<unknown, StoreError>,
    afterFailure: () => void,
  ) {
    for (let at = 0; at < 1000; at++) {
      let failed = false
      const disk = DiskFaulty.layerWith(({ index, call }) => {
        if (index !== at || call === "close") return undefined
        failed = true
        return { code: at % 2 === 0 ? "ENOSPC" : "EIO" }
      }).pipe(Layer.provide(DiskNode.layer))
      const store = SessionStore.layerDisk({ home }).pipe(Layer.provide(Layer.merge(disk, Lock.layer)))
      const exit = yield* Effect.exit(Effect.provide(Effect.flatMap(SessionStore.Service, use), store))
      if (exit._tag === "Success") {
        if (!failed) return at
        continue
      }
      afterFailure()
    }
    return 1000
  })

  const without = (directory: string) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))

  it.live("an export leaves no directory, and an import no session and no part of one", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        yield* Effect.scoped(made)
        const [out, other] = [path.join(home, "out"), path.join(home, "other")]
        const copied = yield* failing(
          home,
          (store) => Effect.andThen(without(out), store.exportTo("one", out)),
          () => expect(fs.existsSync(out)).toBe(false),
        )
        const sessions = path.join(other, "sessions")
        const taken = yield* failing(
          other,
          (store) => Effect.andThen(without(other), store.importFrom(out)),
          () => expect(fs.existsSync(sessions) ? fs.readdirSync(sessions) : []).toEqual([]),
        )
        expect(copied).toBeGreaterThan(40)
        expect(taken).toBeGreaterThan(40)
        expect(Math.max(copied, taken)).toBeLessThan(1000)
      }),
    ),
  )
})

describe("an agent of Kimi CLI", () => {
  it.live("becomes one of ours with its prompt, messages and wire, and the source is only read", () =>
    onDisk((home) =>
      Effect.gen(function* () {
        const source = path.join(home, "kimi/sessions/0123456789abcdef/s1/subagents/a1b2c3d4e")
        fs.mkdirSync(source, { recursive: true })
        const lines = (values: ReadonlyArray<unknown>) => values.map((value) => `${JSON.stringify(value)}\n`).join("")
        fs.writeFileSync(
          path.join(source, "meta.json"),
          JSON.stringify({
            agent_id: "a1b2c3d4e",
            subagent_type: "coder",
            status: "idle",
            description: "fix the tests",
            created_at: 1,
            updated_at: 2,
            last_task_id: null,
            launch_spec: {
              agent_id: "a1b2c3d4e",
              subagent_type: "coder",
              model_override: null,
              effective_model: "kimi-k2",
              created_at: 1,
            },
          }),
        )
        fs.writeFileSync(path.join(source, "prompt.txt"), "the last user prompt")
        const messages = [
          { role: "user", content: [{ type: "text", text: "hello" }] },
          { role: "assistant", content: "hi\u2028there" },
        ]
        fs.writeFileSync(
          path.join(source, "context.jsonl"),
          `${lines([{ role: "_system_prompt", content: "You code." }, { role: "_checkpoint", id: 0 }, ...messages, { role: "_usage", token_count: 12 }])}{"role":"user","cont`,
        )
        const wire = [
          { type: "metadata", protocol_version: "1.1" },
          { timestamp: 1.5, message: { type: "TurnBegin", payload: { user_input: "hello" } } },
        ]
        fs.writeFileSync(path.join(source, "wire.jsonl"), lines(wire))
        const before = fs.readdirSync(source).map((file) => fs.readFileSync(path.join(source, file), "utf8"))
        const store = yield* SessionStore.Service
        yield* Effect.scoped(store.create({ id: "one", cwd: "/w" }))
        const imported = yield* store.importKimi("one", source)
        expect(imported).toMatchObject([{ from: source, skipped: 1 }])
        const id = imported[0]?.id ?? ""
        const reader = yield* store.openReader("one")
        const { meta, prompt, context } = yield* reader.subagents.load(id)
        expect([prompt, meta.status, meta.spec.name, meta.spec.model]).toEqual(["You code.", "closed", "coder", "kimi-k2"])
        expect(meta.ext).toEqual({ imported: { from: "kimi-cli", agent_id: "a1b2c3d4e", status: "idle" } })
        expect(context).toEqual({ messages, usage: { role: "_usage", token_count: 12 } })
        const events = (yield* Stream.runCollect(reader.subagents.replay(id))).filter(
          (record) => !("gap" in record) && record.kind === "event",
        )
        expect(events.map((record) => (record as unknown as { body: { data: unknown } }).body.data)).toEqual(wire)
        expect(fs.readdirSync(source).map((file) => fs.readFileSync(path.join(source, file), "utf8"))).toEqual(before)
        expect(yield* codeOf(store.importKimi("one", home))).toBe("INVALID")
      }),
    ),
  )
})
