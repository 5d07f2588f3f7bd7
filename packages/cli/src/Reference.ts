import { globalFlags, rootFlags } from "./Arguments.ts"
import type { Command, Flags, Group } from "./Command.ts"
import { commandsOf, flagText, flagTitle, usage } from "./Help.ts"

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")

const flagTable = (flags: Flags): ReadonlyArray<string> => [
  "| Flag | Meaning |",
  "| --- | --- |",
  ...Object.entries(flags).map(([name, flag]) => `| \`${cell(flagTitle(name, flag, false))}\` | ${cell(flagText(flag))} |`),
]

const section = (path: ReadonlyArray<string>, command: Command): ReadonlyArray<string> => {
  const parameters = Object.entries(command.parameters)
  return [
    "",
    `## ${path.join(" ")}`,
    "",
    `${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`,
    "",
    "```",
    usage(path, command),
    "```",
    ...command.details.flatMap((paragraph) => ["", paragraph]),
    ...(parameters.length === 0
      ? []
      : [
          "",
          "| Argument | Meaning |",
          "| --- | --- |",
          ...parameters.map(([name, parameter]) => `| \`${name}\` | ${cell(parameter.summary)} |`),
        ]),
    ...(Object.keys(command.flags).length === 0 ? [] : ["", ...flagTable(command.flags)]),
    ...(command.examples.length === 0
      ? []
      : ["", "```sh", ...command.examples.flatMap((example) => [`# ${example.does}`, `kit ${example.line}`]), "```"]),
  ]
}

/** The page `docs/reference/cli.md`: every command with what its help says. */
export const page = (root: Group): string => {
  const commands = commandsOf(root, [root.name])
  return `${[
    "<!-- Generated from packages/cli/src/Commands by `bun run generate`. -->",
    "",
    "# The command line",
    "",
    `| Command | |`,
    "| --- | --- |",
    ...commands.map(
      ([path, command]) => `| [\`${path.join(" ")}\`](#${path.join("-").toLowerCase()}) | ${cell(command.summary)} |`,
    ),
    "",
    "Exit codes: 0 it worked, 1 it was tried and failed, 2 the call, the program or the configuration was wrong and nothing ran, 130 cancelled (143 by TERM, 129 by HUP). A reader that goes away, as `| head` does, is no failure: nothing is said of it.",
    "",
    "The first Ctrl-C cancels, and waits until every agent has ended. A second one, or QUIT (Ctrl-\\, which leaves with 131), waits for nothing: it kills all that was started.",
    "",
    'With `--json` stdout carries exactly one line of JSON; a failure is `{"error":{"code","message",…}}`. People\'s texts go to stderr.',
    "",
    "Every command takes these flags as well; plain `kit` takes `--version` besides.",
    "",
    ...flagTable({ ...globalFlags, version: rootFlags.version }),
    ...commands.flatMap(([path, command]) => section(path, command)),
  ].join("\n")}\n`
}

export * as Reference from "./Reference.ts"
