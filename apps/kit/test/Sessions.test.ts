import { appendFileSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const sessionOf = (err: string): string => /session: (\S+)\n$/.exec(err)?.[1] ?? ""
const shown = async (session: string): Promise<any> => JSON.parse((await kit.run(["sessions", "show", session, "--json"])).out)

describe("kit sessions show", () => {
  it("tells each program that was run in a session, from where, and what it came to; inputs by name only", async () => {
    kit.write("add.rnlt", "return { sum: a + b }")
    const first = await kit.run(["compose", "add.rnlt", "--input", "a=9007199254740993", "--input", "b=1"])
    const session = sessionOf(first.err)
    await kit.compose('return fail("NOPE", "it broke")', "--session", session)
    await kit.compose("return shell({ command: \"head -c 20000 /dev/zero | tr '\\\\0' x\" }).stdout", "--session", session)
    const { runs } = await shown(session)
    expect(runs).toMatchObject([
      {
        path: "add.rnlt",
        source: "return { sum: a + b }",
        inputs: ["a", "b"],
        status: "succeeded",
        began_at: expect.any(String),
      },
      { path: "-e", status: "failed", error: { code: "NOPE", message: "it broke", line: 1, column: 8 } },
      { path: "-e", status: "succeeded", characters: 20_002, preview: `"${"x".repeat(2047)}` },
    ])
    const { out } = await kit.run(["sessions", "show", session])
    expect((await kit.run(["sessions", "show", session, "--json"])).out).toContain('"value":{"sum":9007199254740994}')
    expect(out).toMatch(/add\.rnlt +succeeded +\{"sum":9007199254740994\}\n/)
    expect(out).toMatch(/-e return fail\("NOPE", "it broke"\) +failed +\{"code":"NOPE",/)
  })

  it("tells a program that was cancelled, and one whose process was killed", async () => {
    const session = sessionOf((await kit.compose("return 1")).err)
    for (const [signal, status] of [
      ["SIGINT", "cancelled"],
      ["SIGKILL", "unknown"],
    ] as const) {
      const at = `${kit.folder}/${signal}`
      const program = `return shell({ command: "touch ${at}; exec sleep 60" }).success`
      const running = await kit.start(["compose", "-e", program, "--session", session])
      await kit.appears(at, running)
      process.kill(running.pid, signal)
      await kit.ended(running)
      expect((await shown(session)).runs.at(-1)).toMatchObject({ source: program, status })
    }
    expect(await kit.value("return 2", "--session", session)).toBe(2)
    expect((await shown(session)).runs.map((run: { readonly status: string }) => run.status)).toEqual([
      "succeeded",
      "cancelled",
      "unknown",
      "succeeded",
    ])
  })

  it("keeps the programs beside a conversation, which does not see them, and beside what cannot be read", async () => {
    const session = sessionOf((await kit.compose("return 1")).err)
    expect(await kit.run(["prompt", "hello", "--session", session])).toMatchObject({ code: 0, out: "echo: hello\n" })
    appendFileSync(join(kit.kitHome, "sessions", session, "transcript.jsonl"), "damaged\n")
    const { runs, items } = await shown(session)
    expect(runs).toMatchObject([{ status: "succeeded", value: 1 }])
    expect(items).toBe(5)
  })

  it("says when it was changed as the list does, and that its transcript is gone or damaged, as doctor does", async () => {
    const [session, other] = [sessionOf((await kit.compose("return 1")).err), sessionOf((await kit.compose("return 2")).err)]
    const listed = async (id: string) =>
      JSON.parse((await kit.run(["sessions", "list", "--json"])).out).sessions.find((row: { id: string }) => row.id === id)
    const doctor = async () => {
      const { code, out } = await kit.run(["doctor"])
      return { code, lines: out.split("\n").filter((line) => /^(warning|problem) +session/.test(line)) }
    }
    const transcript = (id: string) => join(kit.kitHome, "sessions", id, "transcript.jsonl")
    utimesSync(transcript(session), 2_000_000_000, 2_000_000_000)
    expect([(await shown(session)).updated_at, (await listed(session)).updated_at]).toEqual(
      Array(2).fill("2033-05-18T03:33:20.000Z"),
    )
    const before = await doctor()
    expect(before.lines).toEqual([])
    const lines = readFileSync(transcript(session), "utf8").split("\n")
    writeFileSync(transcript(session), lines.with(1, "damaged").join("\n"))
    const damaged = await doctor()
    expect(damaged.lines).toEqual([
      expect.stringMatching(new RegExp(`^warning +session +${session}: transcript: bytes .* cannot be read`)),
    ])
    expect(damaged.code).toBe(before.code)
    rmSync(transcript(other))
    const gone = "transcript.jsonl is damaged: it is missing"
    expect((await listed(other)).problem).toMatchObject({ code: "CORRUPT", message: expect.stringContaining(gone) })
    expect((await shown(other)).warnings).toEqual([expect.stringContaining(gone)])
    expect((await listed(session)).problem).toBeUndefined()
    const lost = await doctor()
    expect(lost.code).toBe(1)
    expect(lost.lines).toContainEqual(expect.stringMatching(new RegExp(`^problem +session +${other}: .*${gone}`)))
  })
})
