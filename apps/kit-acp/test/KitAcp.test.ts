import { mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { Processes } from "@acp-kit/platform/Processes"
import { appears } from "@acp-kit/testing/Appears"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { block, machine, program, rest, text } from "./Machine.ts"
import { parent } from "./Parent.ts"

const linkOf = (path: string) => {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}

/** A program that gives this one to a child. */
const nested = (program: string) => `return subagent({ prompt: ${JSON.stringify(block(program))} })`

/** A machine with `kit acp` on it, and a session. */
const client = Effect.fnUntraced(function* (offer: 1 | 2, ...args: ReadonlyArray<string>) {
  const here = yield* machine
  const kit = yield* parent(here, offer, ...args)
  return { ...here, ...kit, session: yield* kit.open }
})

it.layer(Processes.layer, { excludeTestServices: true })("kit acp", (it) => {
  it.effect.each([1, 2] as const)("C06 S90 runs programs with shell and edit for our own client, version %d", (version) =>
    Effect.gen(function* () {
      const { agent, ask, root } = yield* client(version)
      expect(agent.version).toBe(version)
      expect(yield* ask("hello")).toBe("echo: hello")
      const program = [
        'added = edit({ op: "add", path: "a.txt", content: "one" })',
        'return after added { return shell({ command: "cat a.txt; pwd" }).stdout }',
      ]
      expect(yield* ask(block(program.join("\n")))).toBe(`one${root}\n`)
      expect(yield* ask(block("return nonsense("))).toMatch(/^error COMPILE: line 1/)
    }),
  )

  it.effect("S55 shows a compose call as a tool call that carries its intent as title", () =>
    Effect.gen(function* () {
      const { session } = yield* client(2)
      const turn = yield* session.prompt(text(block("return 1 + 1", 'runlet intent="count"')))
      expect(turn.text).toBe("2")
      const calls = turn.items.filter((item) => item.sessionUpdate === "tool_call_update")
      expect(calls).toMatchObject([
        { title: "compose", status: "pending" },
        { title: "count", status: "in_progress" },
        { status: "completed", rawOutput: 2 },
      ])
    }),
  )

  it.effect(
    "says that a message is larger than 32 MiB: refuses a request, and leaves with 1 where it cannot tell what it was",
    () =>
      Effect.gen(function* () {
        const { agent, ask, child, session } = yield* client(2)
        const large = "x".repeat(33 * 1024 * 1024)
        const refused = yield* Effect.flip(session.prompt(text(large)))
        expect(refused).toMatchObject({ code: -32600, message: "Invalid request: the message is larger than 32 MiB" })
        expect(yield* ask("hello")).toBe("echo: hello")
        yield* Effect.ignore(child.write(`{"jsonrpc":"2.0","method":"x","params":"${large}"}\n`))
        yield* agent.closed
        expect(yield* child.exit).toEqual({ code: 1, signal: undefined })
        expect((yield* rest(child.readError)).split("\n").filter((line) => line.startsWith("kit acp:"))).toEqual([
          "kit acp: a request of the client is larger than 32 MiB",
          "kit acp: a message of the client is larger than 32 MiB",
        ])
      }),
  )

  it.effect("C06 S160 nests to depth 2 and no further", () =>
    Effect.gen(function* () {
      const { ask } = yield* client(2)
      const call = (prompt: string) => block(`return subagent({ prompt: ${JSON.stringify(prompt)} }).output`)
      expect(yield* ask(call(call("deep")))).toBe("echo: deep")
      expect(yield* ask(call(call(call("too deep"))))).toBe("error DEPTH_LIMIT: subagent depth limit (2) reached")
    }),
  )

  it.effect("S90 continues a child and leaves none behind when its input ends", () =>
    Effect.gen(function* () {
      const { ask, child, running } = yield* client(2)
      const program = `first = subagent({ prompt: "one" })\nsecond = prompt({ subagent: first, prompt: "two" })\nreturn [first.output, second.output, second.generation]`
      expect(yield* ask(block(program))).toBe('["echo: one","echo: two",2]')
      expect((yield* running).length).toBe(2)
      yield* child.endInput
      expect(yield* child.exit).toMatchObject({ code: 0 })
      expect(yield* running).toEqual([])
    }),
  )

  it.effect("leaves at the end of input in the middle of nested work, and nothing stays", () =>
    Effect.gen(function* () {
      const { session, child, running, root } = yield* client(2)
      const program = nested('return shell({ command: "echo $$ > started; exec sleep 60" })')
      yield* session.begin(text(block(program)))
      yield* appears(join(root, "started"))
      yield* child.endInput
      expect(yield* child.exit).toMatchObject({ code: 0 })
      expect(yield* running).toEqual([])
    }),
  )

  it.effect("S150 cancels nested work with the turn and stays usable", () =>
    Effect.gen(function* () {
      const { session, running, ask, root } = yield* client(2)
      const program = nested('return shell({ command: "echo $$ > started; exec sleep 60" })')
      const turn = yield* session.begin(text(block(program)))
      yield* appears(join(root, "started"))
      expect(yield* turn.cancel).toBe("settled")
      expect((yield* running).map(({ pid }) => pid)).not.toContain(Number(readFileSync(join(root, "started"), "utf8")))
      expect(yield* ask("still there")).toBe("echo: still there")
    }),
  )

  it.effect("S150 stops its work and leaves when the client goes away, though its input stays open", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const processes = yield* Processes.Service
      const args = ["acp", "--session-id", "mine"]
      const line = [...program, ...args].map((word) => `'${word}'`).join(" ")
      const env = {
        PATH: process.env.PATH ?? "",
        HOME: here.userHome,
        KIT_HOME: here.kitHome,
        KIT_CHILD_MARK: basename(here.folder),
      }
      // The reader of the answers leaves once the session is there.
      const reader = "while read -r answer; do case $answer in *mine*) exit;; esac; done"
      const command = `(${line}; echo "left with $?" >&2) | (${reader})`
      const pipeline = yield* processes.spawn({ command: "sh", args: ["-c", command], cwd: here.root, env })
      const ask = (id: number, method: string, params: object) =>
        pipeline.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
      yield* ask(0, "initialize", { protocolVersion: 1, clientCapabilities: {} })
      yield* ask(1, "session/new", { cwd: here.root, mcpServers: [] })
      const work = nested('return shell({ command: "exec sleep 60" })')
      yield* ask(2, "session/prompt", { sessionId: "mine", prompt: text(block(work)) })
      expect(yield* rest(pipeline.readError)).toBe("left with 0\n")
      expect(yield* here.running).toEqual([])
    }),
  )

  it.effect("S170 gives every session the directories of --add-dir, relative ones from where it was started", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const [one, two] = [join(here.root, "one"), join(here.root, "two")] as const
      for (const directory of [one, two]) mkdirSync(directory)
      const demo = yield* here.agent("demo")
      const kit = yield* parent(here, 2, "--add-dir", "one", "--add-dir", two)
      yield* kit.open
      expect(yield* kit.ask(block('return subagent({ prompt: "hi", harness: "acp.demo" }).output'))).toBe("echo: hi")
      expect(demo.recording.params("session/new")).toMatchObject([{ additionalDirectories: [one, two] }])
    }),
  )

  it.effect("refuses a wrong call with exit code 2, says why, and prints nothing on stdout", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
        [["--bogus"], "kit acp: unknown flag --bogus"],
        [["extra"], "kit acp: unexpected argument extra"],
        [["--protocol-version", "3"], "kit acp: --protocol-version must be 1, 2 or auto"],
        [["--model"], "kit acp: --model needs a value"],
        [["--resume"], "kit acp: --resume needs --session-id"],
        [["--reasoning-effort=extreme"], "kit acp: --reasoning-effort must be default, low, medium or high"],
      ]
      for (const [args, why] of wrong) {
        const child = yield* here.start(...args)
        expect(yield* rest(child.readError)).toContain(why)
        expect(yield* rest(child.read)).toBe("")
        expect(yield* child.exit).toMatchObject({ code: 2 })
      }
    }),
  )

  it.effect("answers what one write asked and leaves with 0 at the end of input", () =>
    Effect.gen(function* () {
      const here = yield* machine
      const child = yield* here.start("--session-id", "mine")
      const ask = (id: number, method: string, params: object) => `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`
      const asked = [
        ask(0, "initialize", { protocolVersion: 1, clientCapabilities: {} }),
        ask(1, "session/new", { cwd: here.root, mcpServers: [] }),
      ]
      yield* child.write(asked.join(""))
      yield* child.endInput
      const lines = (yield* rest(child.read)).trimEnd().split("\n")
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        { id: 0, result: {} },
        { id: 1, result: { sessionId: "mine" } },
      ])
      expect(yield* child.exit).toMatchObject({ code: 0 })
    }),
  )

  it.effect("S91 takes root, model, effort and configuration from its arguments", () =>
    Effect.gen(function* () {
      const { agent, session } = yield* client(2, "--root", ".", "--reasoning-effort", "low", "--model", "scripted")
      expect(yield* session.options).toMatchObject([{ currentValue: "scripted" }, { currentValue: "low" }])
      const elsewhere = yield* Effect.flip(agent.newSession({ cwd: "/" }))
      expect(elsewhere.message).toContain("this Kit runtime is fixed to")
      const broken = yield* Effect.flip(client(1, "--provider", "nobody"))
      expect(broken.message).toContain("unknown provider")
    }),
  )

  it.effect("S94 starts with the effort of the configuration, and its children with the same", () =>
    Effect.gen(function* () {
      const here = yield* machine
      yield* here.configure('reasoning_effort = "medium"')
      const kit = yield* parent(here, 2)
      const session = yield* kit.open
      expect(yield* session.options).toMatchObject([{}, { id: "reasoning_effort", currentValue: "medium" }])
      const words = 'return shell({ command: "xargs -0 echo < /proc/$PPID/cmdline" }).stdout'
      expect(yield* kit.ask(block(nested(words)))).toContain("--reasoning-effort medium")
    }),
  )

  it.effect("S95 opens no network listener", () =>
    Effect.gen(function* () {
      const { child, ask } = yield* client(1)
      yield* ask(block("return subagents({})"))
      const sockets = readdirSync(`/proc/${child.pid}/fd`).flatMap(
        (fd) => /socket:\[(\d+)\]/.exec(linkOf(`/proc/${child.pid}/fd/${fd}`))?.[1] ?? [],
      )
      const listening = ["tcp", "tcp6", "udp", "udp6"].flatMap((kind) =>
        readFileSync(`/proc/${child.pid}/net/${kind}`, "utf8").trim().split("\n").slice(1),
      )
      expect(listening.filter((line) => sockets.includes(line.trim().split(/\s+/)[9] ?? ""))).toEqual([])
    }),
  )

  it.effect("S52 reports usage in every turn, with the window of the model", () =>
    Effect.gen(function* () {
      for (const version of [1, 2] as const) {
        const { session } = yield* client(version)
        const turn = yield* session.prompt(text("x".repeat(396)))
        expect(turn.usage).toMatchObject({ used: 200, size: 128_000 })
      }
    }),
  )

  it.effect("S93 offers a reasoning effort that leaves the model alone", () =>
    Effect.gen(function* () {
      for (const version of [1, 2] as const) {
        const { session } = yield* client(version)
        const [model, effort] = yield* session.options
        expect(effort).toMatchObject({ id: "reasoning_effort", category: "thought_level", currentValue: "default" })
        expect(yield* session.setOption("reasoning_effort", "high")).toMatchObject([
          { id: "model", currentValue: model?.currentValue },
          { id: "reasoning_effort", currentValue: "high" },
        ])
      }
    }),
  )
})
