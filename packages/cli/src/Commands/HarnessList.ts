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

/** The launch line for people: this very program is `kit`, wherever it lies. */
const launchLine = ({ command, args }: Harness.Profile, self: ReadonlyArray<string>): string => {
  const words = [command, ...args]
  const ours = self.every((word, index) => words[index] === word)
  return (ours ? ["kit", ...words.slice(self.length)] : words).map(shown).join(" ")
}

const run = Effect.fnUntraced(function* (config: string | undefined, json: boolean) {
  const settings = yield* ConfigFile.load(config)
  const host = yield* Host.Service
  const harnesses = Harness.fromTables(settings, host.self)
  if (json) {
    yield* Output.value({ harnesses: harnesses.profiles.map(describe(harnesses)) }, true)
    return 0 as const
  }
  const rows = harnesses.profiles.map((profile) => [
    profile.reference === harnesses.default ? "*" : " ",
    profile.reference,
    profile.source === "built-in current executable" ? "built in" : "configured",
    launchLine(profile, host.self),
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
