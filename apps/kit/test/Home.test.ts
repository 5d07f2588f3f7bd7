import { chmodSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const at = (home: string) => ({ env: { KIT_HOME: home } })

describe("a home that cannot be one", () => {
  it("is told with what was tried, the path, and what to do", async () => {
    const file = kit.write("file", "")
    const listed = await kit.run(["sessions", "list"], at(file))
    expect(listed).toMatchObject({ code: 1, out: "" })
    expect(listed.err).toBe(
      `kit: could not list ${file}/sessions (ENOTDIR); KIT_HOME must name a directory that you can write to\n`,
    )
    expect(await kit.run(["compose", "-e", "return 1"], at(file))).toMatchObject({
      code: 2,
      err: `kit: ${file}/config.toml: could not read config: a part of its path is not a directory\n`,
    })
  })

  it("is a finding of kit doctor among the others", async () => {
    const file = kit.write("file", "")
    const { code, out } = await kit.run(["doctor"], at(file))
    expect(code).toBe(1)
    expect(out).toContain(`problem  home      ${file} is not a directory; set KIT_HOME to one that Kit may keep its files in\n`)
    expect(out).toContain(`problem  sessions  could not list ${file}/sessions (ENOTDIR)`)
  })

  it.skipIf(process.getuid?.() === 0)("is told where it is not ours", async () => {
    const home = join(kit.dir, "theirs")
    mkdirSync(home)
    chmodSync(home, 0o500)
    const refused = await kit.run(["compose", "-e", "return 1"], at(home))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`access to ${home}`) })
  })
})

describe("a relative home", () => {
  it("is the same directory for a child that works elsewhere", async () => {
    mkdirSync(join(kit.dir, "proj"))
    const { code, out } = await kit.run(["compose", "-e", 'return subagent({ prompt: "p", cwd: "proj" }).output'], at(".kit"))
    expect([code, out]).toEqual([0, '"echo: p"\n'])
    expect(readdirSync(join(kit.dir, "proj"))).toEqual([])
    expect(readdirSync(kit.dir).sort()).toEqual([".kit", "proj"])
  })
})
