import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { Canonical } from "../src/Canonical.ts"
import { heal } from "../src/Heal.ts"
import type { Json, JsonObject } from "../src/Host.ts"
import { parse } from "../src/Parser.ts"
import { compile, type Diagnostic, type RunletError } from "../src/Runlet.ts"
import { float, list, object, same, type Value } from "../src/Value.ts"
import { type ScriptedTool, Stage, settle } from "./Scripted.ts"

interface Case {
  readonly id: string
  readonly title: string
  readonly program: string
  readonly setup: {
    readonly tools?: ReadonlyArray<ScriptedTool>
    readonly inputs?: { readonly [name: string]: { readonly schema: boolean | JsonObject; readonly value: Json } }
    readonly options?: { readonly loopConcurrency?: number; readonly nodeLimit?: number }
    readonly runHealed?: boolean
  }
  readonly expect: {
    readonly [key: string]: any
  }
}

const cases: ReadonlyArray<Case> = JSON.parse(readFileSync(new URL("./fixtures/cases.json", import.meta.url), "utf8"))

/** `{"$number": 2}` is the Number 2.0, every other integer an Integer. */
const valueOf = (json: any): Value => {
  if (Array.isArray(json)) return list(json.map(valueOf))
  if (json === null || typeof json !== "object") return typeof json === "number" && !Number.isInteger(json) ? float(json) : json
  if (typeof json.$number === "number") return float(json.$number)
  return object(new Map(Object.entries(json).map(([key, value]) => [key, valueOf(value)])))
}

const plain = (json: any): any =>
  Array.isArray(json)
    ? json.map(plain)
    : json !== null && typeof json === "object"
      ? "$number" in json
        ? json.$number
        : Object.fromEntries(Object.entries(json).map(([key, value]) => [key, plain(value)]))
      : json

const checkDiagnostics = (expected: Case["expect"], diagnostics: ReadonlyArray<Diagnostic>) => {
  const codes = diagnostics.map(({ code }) => code)
  for (const code of expected.codesInclude ?? []) expect(codes).toContain(code)
  if (expected.diagnosticCount !== undefined) expect(diagnostics).toHaveLength(expected.diagnosticCount)
  if (expected.firstCode !== undefined) expect(codes[0]).toBe(expected.firstCode)
  if (expected.firstPhase !== undefined) expect(diagnostics[0]!.phase).toBe(expected.firstPhase)
  for (const name of expected.candidatesInclude ?? []) expect(diagnostics.flatMap(({ candidates }) => candidates)).toContain(name)
  for (const { code, contains } of expected.messageContains ?? [])
    for (const part of contains)
      expect(
        diagnostics
          .filter((diagnostic) => diagnostic.code === code)
          .map(({ message }) => message)
          .join("\n"),
      ).toContain(part)
}

const failureOf = (exit: Exit.Exit<Value, RunletError>): RunletError => {
  if (Exit.isSuccess(exit)) throw new Error(`succeeded with ${Canonical.stringify(exit.value)}`)
  const found = Cause.findError(exit.cause)
  if (Result.isFailure(found)) throw new Error(Cause.pretty(exit.cause))
  return found.success
}

const valueIn = (exit: Exit.Exit<Value, RunletError>): Value => {
  if (Exit.isSuccess(exit)) return exit.value
  throw new Error(Cause.pretty(exit.cause))
}

const runs = (expected: Case["expect"]) =>
  ["value", "presentation", "error", "calls", "callArgsOrdered", "callArgsUnordered", "maxActive", "maxActiveAtMost"].some(
    (key) => key in expected,
  )

describe("worked cases", () => {
  for (const { expect: expected, id, program, setup, title } of cases)
    it.effect(`${id} ${title}`, () =>
      Effect.gen(function* () {
        const healed = heal(program)
        if ("heals" in expected) expect(healed !== null).toBe(expected.heals)
        if ("healedSource" in expected) expect(healed?.source).toBe(expected.healedSource)
        for (const note of expected.notesContain ?? []) expect(healed?.notes.join("\n")).toContain(note)
        const source = setup.runHealed ? healed!.source : program
        if (expected.parse === "error") expect(parse(source).ok).toBe(false)

        const stage = new Stage()
        const tools = (setup.tools ?? []).map((tool) => stage.tool(tool))
        const inputs = Object.entries(setup.inputs ?? {}).map(([name, input]) => ({ name, ...input }))
        const compiled = compile(source, { tools, inputs })
        if (!compiled.ok) {
          expect(runs(expected), compiled.diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n")).toBe(false)
          checkDiagnostics(expected, compiled.diagnostics)
          return
        }
        expect(expected.compile).not.toBe("error")
        for (const code of expected.warningsInclude ?? [])
          expect(compiled.warnings.map((warning) => warning.code)).toContain(code)

        const { loopConcurrency, nodeLimit } = setup.options ?? {}
        const limits = {
          ...(loopConcurrency === undefined ? {} : { loopConcurrency }),
          ...(nodeLimit === undefined ? {} : { graphNodes: nodeLimit }),
        }
        const exit = yield* settle(compiled.program, { limits })
        if ("value" in expected) {
          const value = valueIn(exit)
          expect(same(value, valueOf(expected.value)), Canonical.stringify(value)).toBe(true)
        }
        if ("presentation" in expected) expect(Canonical.stringify(valueIn(exit))).toBe(expected.presentation)
        if ("error" in expected) {
          const error = failureOf(exit)
          expect(error.code).toBe(expected.error.code)
          if (expected.error.message !== undefined) expect(error.message).toBe(expected.error.message)
          if (expected.error.spanText !== undefined)
            expect(source.slice(error.span!.start, error.span!.end)).toBe(expected.error.spanText)
        }
        for (const [name, count] of Object.entries(expected.calls ?? {}))
          expect(stage.calls.get(name)).toHaveLength(count as number)
        for (const [name, args] of Object.entries(expected.callArgsOrdered ?? {}))
          expect(stage.calls.get(name)).toEqual(plain(args))
        for (const [name, args] of Object.entries(expected.callArgsUnordered ?? {})) {
          const text = (calls: any) => calls.map((call: Json) => JSON.stringify(call)).sort()
          expect(text(stage.calls.get(name))).toEqual(text(plain(args)))
        }
        if ("maxActive" in expected) expect(stage.maxActive).toBe(expected.maxActive)
        if ("maxActiveAtMost" in expected) expect(stage.maxActive).toBeLessThanOrEqual(expected.maxActiveAtMost)
        expect(stage.active).toBe(0)
      }),
    )
})
