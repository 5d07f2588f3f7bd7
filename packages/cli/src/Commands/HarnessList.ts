import { Harness } from "@acp-kit/orchestrator/Harness"
import { Host } from "@acp-kit/platform/Host"
import * as Effect from "effect/Effect"
import { columns } from "../Columns.ts"
import { command } from "../Command.ts"
import { ConfigFile } from "../ConfigFile.ts"
import { Flag } from "../Flag.ts"
import { Output } from "../Output.ts"

const describe = (harnesses: Harness.Harnesses) => (profile: Harness.Profile) => ({
  reference: profile.reference,
  default: profile.reference === harnesses.default,
  source: profile.source,
  command: profile.command,
  args: profile.args,
})

const shown = (word: string): string => (/^[\w./:@%+=,-]+$/.test(word) ? word : JSON.stringify(word))

const run = Effect.fnUntraced(function* (config: string | undefined, json: boolean) {
  const settings = yield* ConfigFile.load(config)
  const host = yield* Host.Service
  const harnesses = Harness.fromTables(settings, host.self)
  const found = harnesses.profiles.map(describe(harnesses))
  if (json) {
    yield* Output.value({ harnesses: found }, true)
    return 0 as const
  }
  const rows = found.map((harness) => [
    harness.default ? "*" : " ",
    harness.reference,
    harness.source === "built-in current executable" ? "built in" : "configured",
    [harness.command, ...harness.args].map(shown).join(" "),
  ])
  yield* Output.lines(columns(rows))
  return 0 as const
})

/** `kit harness list`: what `[acp.<name>]` configures and `acp.kit`; starts none of them (S129). */
export const harnessList = command({
  name: "list",
  summary: "list the harnesses that programs can name; the default has a star",
  details: ["Nothing is started and nothing is checked but the configuration file."],
  flags: { json: Flag.toggle({ summary: 'print {"harnesses":[{reference, default, source, command, args}]}' }) },
  run: ({ flags, config }) => run(config, flags.json),
})
