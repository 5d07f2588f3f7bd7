import { type Group, group } from "./Command.ts"
import { acp } from "./Commands/Acp.ts"
import { check } from "./Commands/Check.ts"
import { compose } from "./Commands/Compose.ts"
import { harnessCheck } from "./Commands/HarnessCheck.ts"
import { harnessList } from "./Commands/HarnessList.ts"
import { sessionsDelete, sessionsRename } from "./Commands/SessionsChange.ts"
import { sessionsList } from "./Commands/SessionsList.ts"
import { sessionsShow } from "./Commands/SessionsShow.ts"

/** Every command of `kit`, in the order in which help shows them. */
export const kit: Group = group("kit", "run coding agents as children of one program, and remember what they did", [
  compose,
  check,
  group("harness", "the agents that programs can start", [harnessList, harnessCheck]),
  group("sessions", "what was run, and is remembered", [sessionsList, sessionsShow, sessionsRename, sessionsDelete]),
  acp,
])
