import { spawnSync } from "node:child_process"
import { Arguments } from "@acp-kit/cli/Arguments"
import { Completions } from "@acp-kit/cli/Completions"
import { Help } from "@acp-kit/cli/Help"
import { kit } from "@acp-kit/cli/Kit"
import { Reference } from "@acp-kit/cli/Reference"
import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"

const commands = Help.commandsOf(kit, ["kit"])

describe("the commands of kit", () => {
  it.each(commands.map(([path, command]) => [path.join(" "), path, command] as const))(
    "explains %s within 100 columns, every flag with its default",
    (_name, path, command) => {
      const text = Help.help(path, command)
      expect(text.split("\n").filter((line) => line.length > 100)).toEqual([])
      for (const [name, flag] of Object.entries(command.flags)) {
        expect(text).toContain(`--${name}`)
        if (flag.fallback !== undefined) expect(text.replaceAll(/\s+/g, " ")).toContain(`default: ${flag.fallback}`)
      }
    },
  )

  it("has examples that it accepts itself", () => {
    for (const { line } of commands.flatMap(([, command]) => command.examples)) {
      const shell = spawnSync("sh", ["-c", `for word in ${line.replace(/ > .*/, "")}; do printf '%s\\0' "$word"; done`], {
        encoding: "utf8",
      })
      const parsed = Arguments.parse(kit, shell.stdout.split("\0").slice(0, -1))
      expect({ line, accepted: Result.isSuccess(parsed) }).toEqual({ line, accepted: true })
    }
  })

  it("has every command and flag on the reference page", () => {
    const page = Reference.page(kit)
    for (const [path, command] of commands) {
      expect(page).toContain(`## ${path.join(" ")}\n`)
      for (const name of Object.keys(command.flags)) expect(page).toContain(`--${name}`)
    }
  })

  it("completes commands and flags in bash", () => {
    const complete = (...words: ReadonlyArray<string>) => {
      const script = `${Completions.completions(kit, "bash")}\nCOMP_WORDS=(kit "$@"); COMP_CWORD=$#; _kit; printf '%s\\n' "\${COMPREPLY[@]}"`
      return spawnSync("bash", ["-c", script, "bash", ...words], { encoding: "utf8" })
        .stdout.trim()
        .split("\n")
    }
    expect(complete("comp")).toEqual(["compose", "completions"])
    expect(complete("compose", "file.rnlt", "--se")).toEqual(["--session"])
    expect(complete("harness", "")).toEqual(["list", "check"])
    expect(complete("harness", "list", "--js")).toEqual(["--json"])
  })
})
