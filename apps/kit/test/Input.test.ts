import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Machine } from "./support/Machine.ts"

let kit: Machine
beforeEach(async () => {
  kit = await Machine.make()
})
afterEach(() => kit.dispose())

const ended = (line: string) => kit.shell(line).ended

describe("standard input", () => {
  it("that is a directory is told in one line, by every command that reads it", async () => {
    for (const command of ["compose", "check -", "fmt -", "prompt -"]) {
      expect([command, await ended(`kit ${command} < /`)]).toEqual([
        command,
        { code: 2, out: "", err: "kit: could not read standard input: it is a directory\n" },
      ])
    }
    expect(await ended("kit acp < /")).toEqual({
      code: 1,
      out: "",
      err: "kit acp: could not read standard input: it is a directory\n",
    })
  })

  it("without an end is read up to the largest program, and no further", async () => {
    for (const command of ["compose", "check -", "fmt -"]) {
      expect([command, await ended(`yes | kit ${command}`)]).toEqual([
        command,
        { code: 2, out: "", err: "kit: could not read standard input: it is larger than 1048576 bytes\n" },
      ])
    }
    expect(await ended("yes | kit prompt -")).toEqual({
      code: 2,
      out: "",
      err: "kit: could not read standard input: it is larger than 33554432 bytes\n",
    })
  })
})

describe("a program file", () => {
  it("without an end is read up to the largest program, and no further", async () => {
    expect(await ended("kit compose /dev/zero")).toEqual({
      code: 2,
      out: "",
      err: "kit: could not read /dev/zero: it is larger than 1048576 bytes\n",
    })
  })

  it("may be a pipe", async () => {
    expect(await ended("mkfifo pipe; echo 'return 7' > pipe & kit compose --no-session pipe")).toMatchObject({
      code: 0,
      out: "7\n",
    })
  })
})
