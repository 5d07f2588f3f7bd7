import { CompactJson } from "@acp-kit/agent/CompactJson"
import { Harness } from "@acp-kit/orchestrator/Harness"
import { Limits } from "@acp-kit/orchestrator/Limits"
import type { SubagentError } from "@acp-kit/orchestrator/SubagentError"
import { Host } from "@acp-kit/platform/Host"
import type { JsonObject } from "@acp-kit/runlet/Host"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Cancelling } from "../Cancelling.ts"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { CommandFailed, failed } from "../CommandFailed.ts"
import { ConfigFile } from "../ConfigFile.ts"
import { Flag } from "../Flag.ts"
import { HarnessProbe } from "../HarnessProbe.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Terminal } from "../Terminal.ts"

const stepsJson = (steps: ReadonlyArray<HarnessProbe.Step>): ReadonlyArray<JsonObject> =>
  steps.map(({ name, ms, ok }) => ({ name, ms, ok }))

const reportJson = (report: HarnessProbe.Report): JsonObject => ({
  reference: report.reference,
  offered: report.offered,
  protocolVersion: report.protocolVersion,
  agent: report.agent === undefined ? null : { ...report.agent, title: report.agent.title ?? null },
  authMethods: report.authMethods,
  capabilities: report.capabilities,
  unused: report.unused,
  configOptions: report.configOptions,
  initialized: report.initialized,
  opened: report.opened,
  steps: stepsJson(report.steps),
  notes: report.notes,
})

const errorJson = ({ reference, failure, steps }: HarnessProbe.Unusable) => ({
  code: failure.code,
  message: failure.message,
  details: failure.details ?? {},
  reference,
  steps: stepsJson(steps),
})

const title = ({ id, currentValue, values }: HarnessProbe.Report["options"][number]): string => {
  const choices = values.length === 0 ? "" : ` of ${values.join(" ")}`
  return printable(`${id} = ${currentValue === undefined ? "unset" : CompactJson.encode(currentValue)}${choices}`)
}

const timing = (steps: ReadonlyArray<HarnessProbe.Step>): string =>
  steps.map(({ name, ms, ok }) => `${name} ${ms.toFixed(1)} ms${ok ? "" : " (failed)"}`).join(", ")

const protocol = ({ offered, protocolVersion }: HarnessProbe.Report): string =>
  offered.length > 1 ? `v${protocolVersion}, after v${offered[0]} was rejected` : `v${protocolVersion}`

const reportLines = (report: HarnessProbe.Report): ReadonlyArray<string> => {
  const { agent, capabilities } = report
  const named = (holds: boolean) => Object.keys(capabilities).filter((name) => capabilities[name] === holds)
  const rows = [
    ["protocol", protocol(report)],
    ["agent", agent === undefined ? "unnamed" : printable(`${agent.title ?? agent.name} ${agent.version}`)],
    ["can", named(true).join(", ") || "nothing beyond text"],
    ["cannot", named(false).join(", ") || "—"],
    ...(report.unused.length === 0 ? [] : [["besides", printable(report.unused.join(", "))]]),
    ["login", report.authMethods.join(", ") || "no method advertised"],
    ["options", report.options.map(title).join(", ") || "none"],
    ["time", timing(report.steps)],
    ...report.notes.map((note) => ["note", printable(note)]),
  ]
  return [`${report.reference} works`, ...columns(rows.map((row) => ["", ...row]))]
}

const stderrOf = (failure: SubagentError): ReadonlyArray<string> => {
  const { stderr } = failure.details ?? {}
  if (typeof stderr !== "string") return []
  return stderr
    .trimEnd()
    .split("\n")
    .slice(-8)
    .map((line) => `  | ${printable(line)}`)
}

/** `heard`: what the harness logged stands on stderr already. */
const errorLines = ({ reference, failure, steps }: HarnessProbe.Unusable, heard: boolean): ReadonlyArray<string> => [
  `${reference}: ${failure.message} [${failure.code}]`,
  ...(steps.length === 0 ? [] : [`  time  ${timing(steps)}`]),
  ...(heard ? [] : stderrOf(failure)),
]

const probe = Effect.fnUntraced(function* (profile: Harness.Profile, quiet: boolean) {
  const terminal = yield* Terminal.Service
  const onLine = (line: string) => (quiet ? Effect.void : terminal.err(`ACP harness ${profile.name}: ${printable(line)}\n`))
  return yield* HarnessProbe.probe(profile, onLine)
})

const one = Effect.fnUntraced(function* (profile: Harness.Profile, json: boolean) {
  const report = yield* Effect.mapError(
    probe(profile, json),
    (unusable) => new CommandFailed({ exit: 1, text: errorLines(unusable, !json).join("\n"), error: errorJson(unusable) }),
  )
  yield* json ? Output.value(reportJson(report), true) : Output.lines(reportLines(report))
  return 0 as const
})

const all = Effect.fnUntraced(function* (profiles: ReadonlyArray<Harness.Profile>, json: boolean) {
  const results = yield* Effect.forEach(profiles, (profile) => Effect.result(probe(profile, json)), { concurrency: 4 })
  if (json) {
    const rows = results.map((result) =>
      Result.isSuccess(result)
        ? reportJson(result.success)
        : { reference: result.failure.reference, error: errorJson(result.failure) },
    )
    yield* Output.value({ harnesses: rows }, true)
  } else {
    for (const result of results) {
      yield* Output.lines(Result.isSuccess(result) ? reportLines(result.success) : errorLines(result.failure, true))
    }
  }
  return results.every(Result.isSuccess) ? (0 as const) : (1 as const)
})

const run = Effect.fnUntraced(function* (name: string | undefined, config: string | undefined, json: boolean) {
  const settings = yield* ConfigFile.load(config)
  const host = yield* Host.Service
  const harnesses = Harness.fromTables(settings, host.self)
  const terminal = yield* Terminal.Service
  const told = Cancelling.told(terminal.err(`${Cancelling.line}\n`))
  const limits = Limits.layerWith(settings.limits)
  if (name === undefined) return yield* Effect.provide(told(all(harnesses.profiles, json)), limits)
  const reference = name.startsWith("acp.") ? name : `acp.${name}`
  const found = Harness.resolve(harnesses, reference)
  if (Result.isFailure(found)) {
    const { code, message } = found.failure
    return yield* failed(2, code, `${message}; kit harness list tells what there is`)
  }
  return yield* Effect.provide(told(one(found.success, json)), limits)
})

/** `kit harness check [NAME]`: starts harnesses and tells what they can do and how long each step took. */
export const harnessCheck = command({
  name: "check",
  summary: "start a harness and tell what was negotiated and how long each step took",
  details: [
    "No prompt is sent. The session is closed and deleted again where the harness can do that, and the process is ended.",
    "Exit 1 where a harness cannot be used; the reason has the code that a program would see.",
  ],
  parameters: { NAME: Flag.optional("the harness, with or without acp.; all of them when left out") },
  flags: { json: Flag.toggle({ summary: "print what was negotiated as one JSON object" }) },
  examples: [{ line: "harness check claude", does: "starts the harness of [acp.claude]" }],
  run: ({ parameters, flags, config }) => run(parameters.NAME, config, flags.json),
})
