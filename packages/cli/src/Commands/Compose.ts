import { Compose, NotCompiled } from "@acp-kit/orchestrator/Compose"
import { Harness } from "@acp-kit/orchestrator/Harness"
import { Limits } from "@acp-kit/orchestrator/Limits"
import type { Subagents } from "@acp-kit/orchestrator/Subagents"
import { Host } from "@acp-kit/platform/Host"
import type { Observer } from "@acp-kit/runlet/Graph"
import type { Input } from "@acp-kit/runlet/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { command } from "../Command.ts"
import { ComposeSession } from "../ComposeSession.ts"
import { ConfigFile } from "../ConfigFile.ts"
import { Directories } from "../Directories.ts"
import { Explain } from "../Explain.ts"
import { Findings } from "../Findings.ts"
import { Flag } from "../Flag.ts"
import { GraphFile } from "../GraphFile.ts"
import { inherited } from "../Inherited.ts"
import { LiveChildren } from "../LiveChildren.ts"
import { Output } from "../Output.ts"
import { Program } from "../Program.ts"
import { RunRecord } from "../RunRecord.ts"
import { Store } from "../Store.ts"
import { Terminal } from "../Terminal.ts"
import { Toolset } from "../Toolset.ts"

/** Nothing is opened, made or started for a program that does not compile. */
const compiles = Effect.fnUntraced(function* (program: Program.Program, inputs: ReadonlyArray<Input>) {
  const diagnostics = Compose.check(program.source, yield* Toolset.declarations, inputs)
  if (diagnostics.every((diagnostic) => diagnostic.severity === "warning")) return
  return yield* Findings.notCompiled(new NotCompiled({ source: program.source, diagnostics }), program)
})

const execute = Effect.fnUntraced(function* (
  subagents: Subagents.Interface,
  root: string,
  program: Program.Program,
  inputs: ReadonlyArray<Input>,
  observer: Observer | undefined,
) {
  const terminal = yield* Terminal.Service
  const run = Compose.run({
    source: program.source,
    tools: yield* Toolset.make(subagents, root),
    inputs,
    author: "person",
    ...(observer === undefined ? {} : { observer }),
    onWarnings: (warnings) => terminal.err(`${Findings.text(warnings, program)}\n`),
  })
  return yield* Effect.mapError(run, (failure) =>
    failure._tag === "NotCompiled" ? Findings.notCompiled(failure, program) : Findings.runFailed(failure, program),
  )
})

interface Call {
  readonly program: Program.Program
  readonly inputs: ReadonlyArray<Input>
  readonly session: ComposeSession.Asked
  readonly persistent: boolean
  /** The file that is told of every step. */
  readonly graph: string | undefined
  readonly config: string | undefined
}

const run = Effect.fnUntraced(function* ({ program, inputs, session, persistent, graph, config }: Call) {
  const settings = yield* ConfigFile.load(config)
  yield* compiles(program, inputs)
  const host = yield* Host.Service
  const inheritance = yield* inherited(settings, config)
  const work = Effect.gen(function* () {
    const file = graph === undefined ? undefined : yield* GraphFile.make(graph)
    const opened = yield* ComposeSession.open(session, persistent)
    const options: Subagents.Options = {
      ...opened,
      depth: 0,
      harnesses: Harness.fromTables(settings, host.self),
      inherited: Effect.succeed({ ...inheritance, ephemeral: !persistent }),
    }
    const value = yield* LiveChildren.use(options, (subagents) => {
      const running = execute(subagents, opened.root, program, inputs, file?.observer)
      return persistent ? RunRecord.recorded(opened.session, program, inputs)(running) : running
    })
    return { value, file }
  })
  const store = persistent ? Store.layer : SessionStore.layerMemory
  return yield* Effect.provide(Effect.scoped(work), Layer.merge(store, Limits.layerWith(settings.limits)))
})

/** `kit compose`: runs a program and prints its value. */
export const compose = command({
  name: "compose",
  summary: "run a Runlet program and print its value",
  details: [
    "The value goes to stdout as canonical JSON: one line, or laid out where stdout is a terminal. What the agents do goes to stderr, whose last line names the session.",
    "A session remembers its children: with --session a later program finds them by subagents({}) and goes on with prompt. It runs in the session's own directory unless --root says otherwise.",
  ],
  parameters: Program.parameters,
  flags: {
    ...Program.flags,
    ...Directories.flags,
    session: Flag.text({ placeholder: "ID", summary: "go on with this session", fallback: "a new one" }),
    "no-session": Flag.toggle({ summary: "keep nothing on disk" }),
    explain: Flag.toggle({ summary: "print the plan instead: each step and what it waits for; nothing is started" }),
    graph: Flag.text({
      placeholder: "FILE",
      summary: "write every node, edge and state of the run to FILE, as ndjson; exit 1 where that fails",
    }),
    json: Flag.toggle({ summary: 'never lay the value out; print a failure as {"error":{code, message, …}} on stdout' }),
  },
  exclusive: [
    ["FILE", "eval"],
    ["session", "no-session"],
    ["explain", "graph"],
  ],
  examples: [
    { line: "compose examples/first-run.rnlt", does: "three agents look at this repository at once" },
    {
      line: `compose -e 'return subagent({ prompt: topic }).output' --input 'topic="Hello"'`,
      does: "a program on the command line, with an input",
    },
    { line: "compose examples/first-run.rnlt --explain", does: "what would run at once, and what would wait for what" },
  ],
  run: Effect.fnUntraced(function* ({ parameters, flags, config }) {
    const program = yield* Program.read("compose", parameters.FILE, flags.eval)
    const inputs = yield* Program.inputs(flags.input)
    if (flags.explain) return yield* Effect.as(Explain.explain(program, inputs, flags.json), 0 as const)
    const title = parameters.FILE === "-" ? undefined : parameters.FILE
    const session = { id: flags.session, root: flags.root, addDirs: flags["add-dir"], title }
    const { value, file } = yield* run({ program, inputs, session, persistent: !flags["no-session"], graph: flags.graph, config })
    yield* Output.value(value, flags.json)
    return file?.incomplete() ? (1 as const) : (0 as const)
  }),
})
