import { Config, type Problem, render } from "@acp-kit/orchestrator/Config"
import { Definitions } from "@acp-kit/orchestrator/Definition"
import { Harness } from "@acp-kit/orchestrator/Harness"
import { Executable } from "@acp-kit/platform/Executable"
import { Host } from "@acp-kit/platform/Host"
import { SystemFailure } from "@acp-kit/platform/SystemFailure"
import type { JsonObject } from "@acp-kit/runlet/Host"
import { describeGap } from "@acp-kit/store/LogRecovery"
import { SessionStore } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { ConfigFile } from "../ConfigFile.ts"
import { Flag } from "../Flag.ts"
import { LongWork } from "../LongWork.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { Store } from "../Store.ts"

/** One thing that was looked at. `problem` keeps something from working, `warning` does not. */
interface Finding {
  readonly what: string
  readonly state: "ok" | "warning" | "problem"
  readonly detail: string
}

const home = Effect.gen(function* () {
  const { kitHome } = yield* Host.Service
  const files = yield* FileSystem.FileSystem
  const finding = (state: Finding["state"], detail: string): Finding => ({ what: "home", state, detail })
  const look = Effect.tap(files.stat(kitHome), () => files.access(kitHome, { readable: true, writable: true }))
  return yield* Effect.match(look, {
    onSuccess: ({ type }) =>
      type === "Directory"
        ? finding("ok", kitHome)
        : finding("problem", `${kitHome} is not a directory; set KIT_HOME to one that Kit may keep its files in`),
    onFailure: (error) =>
      error.reason._tag === "NotFound"
        ? finding("ok", `${kitHome} will be made by the first session`)
        : finding("problem", `could not use ${kitHome}: ${SystemFailure.why(error)}`),
  })
})

const problemFindings = (path: string, problems: ReadonlyArray<Problem>, state: "warning" | "problem"): ReadonlyArray<Finding> =>
  problems.map((problem) => ({ what: "config", state, detail: `${path}: ${render(problem)}` }))

const harness = Effect.fnUntraced(function* (profile: Harness.Profile) {
  const { env, cwd } = yield* Host.Service
  return yield* Effect.match(Executable.find(profile.command, env.PATH, cwd), {
    onSuccess: (file): Finding => ({ what: profile.reference, state: "ok", detail: file }),
    onFailure: (reason): Finding => ({
      what: profile.reference,
      state: "problem",
      detail: reason === "ENOENT" ? `there is no ${profile.command} on PATH` : `${profile.command} cannot be executed`,
    }),
  })
})

/** The agent definitions of the project here and of Kit's home: how many can be used, and each that cannot, with its file and why. Without harnesses theirs are not looked at. */
const definitions = Effect.fnUntraced(function* (harnesses: Harness.Harnesses | undefined) {
  const { kitHome, cwd } = yield* Host.Service
  const files = yield* FileSystem.FileSystem
  const folder = (yield* Path.Path).join(kitHome, "agents")
  const problem = (detail: string): Finding => ({ what: "agent", state: "problem", detail })
  const entries = yield* Effect.result(files.readDirectory(folder))
  if (Result.isFailure(entries) && entries.failure.reason._tag !== "NotFound") {
    return [problem(`could not read ${folder}: ${SystemFailure.why(entries.failure)}`)]
  }
  const usable = yield* Definitions.names(cwd)
  const own = Result.isSuccess(entries) ? entries.success : []
  const odd = own.filter((entry) => entry.endsWith(".md") && !usable.includes(entry.slice(0, -".md".length)))
  const broken = yield* Effect.forEach(usable, (name) =>
    Effect.match(Definitions.load(name, cwd), {
      onFailure: ({ message }) => [problem(message)],
      onSuccess: ({ path, harness }) => {
        if (harness === undefined || harnesses === undefined) return []
        const found = Harness.resolve(harnesses, harness)
        return Result.isFailure(found) ? [problem(`${path}: ${found.failure.message}`)] : []
      },
    }),
  )
  const wrong = [
    ...odd.sort().map((entry) => problem(`${folder}/${entry}: no program can name it; a name has 1 to 64 of A-Z a-z 0-9 . _ -`)),
    ...broken.flat(),
  ]
  const good = usable.length - broken.flat().length
  return [...(good === 0 ? [] : [{ what: "agents", state: "ok", detail: `${good} can be used` } as const]), ...wrong]
})

const configuration = Effect.fnUntraced(function* (config: string | undefined) {
  const path = yield* ConfigFile.pathOf(config)
  const host = yield* Host.Service
  const loaded = yield* Effect.match(Config.load(path, { required: config !== undefined }), {
    onSuccess: (settings) => ({ settings, findings: problemFindings(path, settings.warnings, "warning") }),
    onFailure: (error) => ({ settings: undefined, findings: problemFindings(path, error.problems, "problem") }),
  })
  if (loaded.settings === undefined) return [...loaded.findings, ...(yield* definitions(undefined))]
  const { settings } = loaded
  const read: Finding = {
    what: "config",
    state: "ok",
    detail: settings.found ? path : `${path} is not there; every default holds`,
  }
  const harnesses = Harness.fromTables(settings, host.self)
  return [read, ...loaded.findings, ...(yield* Effect.forEach(harnesses.profiles, harness)), ...(yield* definitions(harnesses))]
})

/** What of a session's transcript cannot be read; nothing keeps the session from going on without it. */
const gaps = Effect.fnUntraced(function* (id: string) {
  const store = yield* SessionStore.Service
  const { records } = yield* store.openReader(id)
  const found: Array<Finding> = []
  yield* Stream.runForEach(records, (record) =>
    Effect.sync(() => {
      if (record.kind !== "gap") return
      found.push({ what: "session", state: "warning", detail: `${id}: transcript: ${describeGap(record.gap)}` })
    }),
  )
  return found
})

const sessions = Effect.gen(function* () {
  const store = yield* SessionStore.Service
  const all = yield* store.list({ subagents: true })
  const orphans = yield* store.orphans
  const damaged = all.flatMap(
    ({ id, problem }): ReadonlyArray<Finding> =>
      problem === undefined ? [] : [{ what: "session", state: "problem", detail: `${id}: ${problem.message}` }],
  )
  const unread: Array<Finding> = []
  let looked = 0
  const reading = Effect.forEach(all, ({ id }) => {
    looked++
    return Effect.map(
      Effect.orElseSucceed(gaps(id), () => []),
      (found) => unread.push(...found),
    )
  })
  yield* LongWork.during(() => `looked at ${looked} of ${all.length} sessions`)(reading)
  const counted: Finding = { what: "sessions", state: "ok", detail: `${all.length - damaged.length} can be read` }
  const left: ReadonlyArray<Finding> =
    orphans.length === 0
      ? []
      : [{ what: "orphans", state: "warning", detail: `${orphans.length}; look with: kit subagents orphans` }]
  return [counted, ...damaged, ...unread, ...left]
})

/** The store could not even be listed. */
const unreadable = (error: StoreError): ReadonlyArray<Finding> => [{ what: "sessions", state: "problem", detail: error.message }]

const json = ({ what, state, detail }: Finding): JsonObject => ({ what, state, detail })

/** `kit doctor`: what of the set-up works. Starts nothing. */
export const doctor = command({
  name: "doctor",
  summary: "look at home, configuration, harnesses, agent definitions and sessions, and tell what is wrong",
  details: ["Nothing is started and nothing is changed. Exit 1 where there is a problem."],
  flags: { json: Flag.toggle({ summary: 'print {"findings":[{what, state, detail}]}' }) },
  run: ({ flags, config }) =>
    Store.use(
      Effect.gen(function* () {
        const { version } = yield* Host.Service
        const found: ReadonlyArray<Finding> = [
          { what: "kit", state: "ok", detail: version },
          yield* home,
          ...(yield* configuration(config)),
          ...(yield* Effect.catch(sessions, (error) => Effect.succeed(unreadable(error)))),
        ]
        if (flags.json) yield* Output.value({ findings: found.map(json) }, true)
        else yield* Output.lines(columns(found.map(({ what, state, detail }) => [state, what, printable(detail)])))
        return found.some(({ state }) => state === "problem") ? (1 as const) : (0 as const)
      }),
    ),
})
