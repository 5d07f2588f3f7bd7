import * as Effect from "effect/Effect"
import { command, type Group, group } from "./Command.ts"
import { acp } from "./Commands/Acp.ts"
import { check } from "./Commands/Check.ts"
import { compose } from "./Commands/Compose.ts"
import { doctor } from "./Commands/Doctor.ts"
import { fmt } from "./Commands/Fmt.ts"
import { harnessCheck } from "./Commands/HarnessCheck.ts"
import { harnessList } from "./Commands/HarnessList.ts"
import { prompt } from "./Commands/Prompt.ts"
import { sessionsDelete, sessionsRename } from "./Commands/SessionsChange.ts"
import { sessionsCollect } from "./Commands/SessionsCollect.ts"
import { sessionsExport, sessionsImport } from "./Commands/SessionsExport.ts"
import { sessionsList } from "./Commands/SessionsList.ts"
import { sessionsShow } from "./Commands/SessionsShow.ts"
import { subagentsDelete } from "./Commands/SubagentsDelete.ts"
import { subagentsImport } from "./Commands/SubagentsImport.ts"
import { subagentsList } from "./Commands/SubagentsList.ts"
import { subagentsLog } from "./Commands/SubagentsLog.ts"
import { subagentsMigrate } from "./Commands/SubagentsMigrate.ts"
import { subagentsOrphans } from "./Commands/SubagentsOrphans.ts"
import { subagentsRepair } from "./Commands/SubagentsRepair.ts"
import { subagentsReplay } from "./Commands/SubagentsReplay.ts"
import { subagentsRun } from "./Commands/SubagentsRun.ts"
import { subagentsShow } from "./Commands/SubagentsShow.ts"
import { subagentsVerify } from "./Commands/SubagentsVerify.ts"
import { Completions } from "./Completions.ts"
import { Flag } from "./Flag.ts"
import { Terminal } from "./Terminal.ts"

/** `kit completions SHELL`; here because it is made of all the others. */
const completions = command({
  name: "completions",
  summary: "print the script that completes commands and flags in a shell",
  parameters: { SHELL: Flag.oneOf("bash, zsh or fish", Completions.shells) },
  examples: [
    { line: "completions bash > ~/.local/share/bash-completion/completions/kit", does: "for every later bash" },
    { line: "completions fish > ~/.config/fish/completions/kit.fish", does: "for every later fish" },
  ],
  run: ({ parameters }) =>
    Effect.gen(function* () {
      const terminal = yield* Terminal.Service
      yield* terminal.out(Completions.completions(kit, parameters.SHELL))
      return 0 as const
    }),
})

/** Every command of `kit`, in the order in which help shows them. */
export const kit: Group = group("kit", "run coding agents as children of one program, and remember what they did", [
  compose,
  prompt,
  check,
  fmt,
  group("harness", "the agents that programs can start", [harnessList, harnessCheck]),
  group("sessions", "what was run, and is remembered", [
    sessionsList,
    sessionsShow,
    sessionsRename,
    sessionsDelete,
    sessionsExport,
    sessionsImport,
    sessionsCollect,
  ]),
  group("subagents", "the agents of those sessions, and their files", [
    subagentsList,
    subagentsShow,
    subagentsLog,
    subagentsReplay,
    subagentsRun,
    subagentsVerify,
    subagentsRepair,
    subagentsMigrate,
    subagentsImport,
    subagentsOrphans,
    subagentsDelete,
  ]),
  acp,
  doctor,
  completions,
])
