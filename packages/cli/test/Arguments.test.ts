import { Arguments } from "@acp-kit/cli/Arguments"
import { command, type Flags, group, type Input, type Parameters } from "@acp-kit/cli/Command"
import { Flag } from "@acp-kit/cli/Flag"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const compose = command({
  name: "compose",
  summary: "run a program",
  parameters: { FILE: Flag.optional("the program") },
  flags: {
    eval: Flag.text({ short: "e", placeholder: "PROGRAM", summary: "the program itself" }),
    input: Flag.texts({ placeholder: "NAME=JSON", summary: "a value" }),
    level: Flag.choice({ summary: "how much" }, ["low", "high"]),
    json: Flag.toggle({ summary: "as JSON" }),
  },
  exclusive: [["FILE", "eval"]],
  run: () => Effect.succeed(0 as const),
})

const check = command({
  name: "check",
  summary: "check",
  parameters: { NAME: Flag.required("which") },
  run: () => Effect.succeed(0 as const),
})

const format = command({
  name: "format",
  summary: "format",
  parameters: { FILE: Flag.several("the files") },
  flags: { check: Flag.toggle({ summary: "only look" }) },
  run: () => Effect.succeed(0 as const),
})

const root = group("kit", "agents", [compose, format, group("harness", "harnesses", [check])])

const input = (...argv: ReadonlyArray<string>): Input<Parameters, Flags> => {
  const request = Arguments.parse(root, argv)
  if (Result.isFailure(request)) throw new Error(request.failure.message)
  if (request.success.kind !== "run") throw new Error("help")
  return request.success.input
}

const message = (...argv: ReadonlyArray<string>): string => {
  const request = Arguments.parse(root, argv)
  return Result.isFailure(request) ? request.failure.message : `accepted as ${request.success.kind}`
}

describe("Arguments", () => {
  it("reads flags wherever they stand, attached or apart, and keeps the order of repeated ones", () => {
    const read = input("compose", "--input", "a=1", "x.rnlt", "--json", "--input=b=2")
    expect(read.parameters).toEqual({ FILE: "x.rnlt" })
    expect(read.flags).toEqual({ eval: undefined, input: ["a=1", "b=2"], level: undefined, json: true })
    expect(input("compose", "-e", "return 1").flags.eval).toBe("return 1")
    expect(input("compose", "-ereturn 1").flags.eval).toBe("return 1")
  })

  it("takes a value that looks like a flag of another program and a lone dash as an argument, but nothing empty", () => {
    expect(input("compose", "-e", "-1").flags.eval).toBe("-1")
    expect(message("compose", "--eval=")).toBe("--eval is empty")
    expect(input("compose", "-").parameters).toEqual({ FILE: "-" })
  })

  it("takes everything after two dashes as arguments", () => {
    expect(input("compose", "--", "--json").parameters).toEqual({ FILE: "--json" })
  })

  it("takes as many arguments as stand where a command takes several, and at least one", () => {
    expect(input("format", "a", "--check", "b", "-").parameters).toEqual({ FILE: ["a", "b", "-"] })
    expect(message("format", "--check")).toBe("FILE is missing")
  })

  it("honours --config before and after the command", () => {
    expect(input("--config", "a.toml", "compose").config).toBe("a.toml")
    expect(input("compose", "--config=b.toml").config).toBe("b.toml")
    expect(message("--config", "a", "compose", "--config", "b")).toBe("--config stands twice")
  })

  it("suggests the nearest flag and the nearest command", () => {
    expect(message("compose", "--jsn")).toBe('unknown flag --jsn; did you mean "--json"?')
    expect(message("compse")).toBe('unknown command "compse"; did you mean "compose"?')
    expect(message("harness", "chek")).toBe('unknown command "chek"; did you mean "check"?')
    expect(message("compose", "--zzzzzzzz")).toBe("unknown flag --zzzzzzzz")
  })

  it("refuses what is incomplete, surplus, doubled or contradictory", () => {
    expect(message("compose", "--input")).toBe("--input needs a value: --input NAME=JSON")
    expect(message("compose", "--input", "--json")).toBe("--input needs a value: --input NAME=JSON")
    expect(message("compose", "--json=1")).toBe("--json takes no value")
    expect(message("compose", "-e", "1", "-e", "2")).toBe("--eval stands twice")
    expect(message("compose", "a", "b")).toBe('unexpected argument "b"; only FILE is taken')
    expect(message("compose", "a", "-e", "b")).toBe("FILE and --eval exclude each other")
    expect(message("compose", "--level", "mid")).toBe('--level is one of low, high, not "mid"')
    expect(message("harness", "check")).toBe("NAME is missing")
    expect(message("harness", "check", "")).toBe("NAME is empty")
    expect(message("compose", "")).toBe("FILE is empty")
    expect(message("compose", "x", "--config=")).toBe("--config is empty")
    expect(message("harness")).toBe("needs one of: check")
    expect(message("--versoin")).toBe('unknown flag --versoin; did you mean "--version"?')
  })

  it("asks for help without looking at the rest, and without arguments", () => {
    for (const argv of [
      [],
      ["--help"],
      ["-h"],
      ["help"],
      ["compose", "--bad", "--help"],
      ["help", "compose"],
      ["harness", "--help"],
    ]) {
      expect(message(...argv)).toBe("accepted as help")
    }
    expect(message("--config", "x", "--version")).toBe("accepted as version")
    expect(message("compose", "--", "--help")).toBe("accepted as run")
  })
})
