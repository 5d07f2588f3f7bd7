import { globalFlags, rootFlags } from "./Arguments.ts"
import type { Command, Entry, Flags, Group } from "./Command.ts"
import type { Flag } from "./Flag.ts"

const width = 100

/** Breaks a paragraph at spaces so that no line is longer than `columns`, where its words allow it. */
const wrap = (paragraph: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of paragraph.split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return line === "" ? lines : [...lines, line]
}

/** The usage line, broken between its parts where it is long; further lines stand under the first part behind the command. */
export const usageLines = (path: ReadonlyArray<string>, entry: Entry): ReadonlyArray<string> => {
  const head = `usage: ${path.join(" ")} `
  const parts = usage(path, entry).slice(head.length - "usage: ".length)
  const lines: Array<string> = []
  for (const part of parts.match(/\[[^\]]*\](?:\.\.\.)?|\S+/g) ?? []) {
    const last = lines.at(-1)
    if (last !== undefined && head.length + last.length + 1 + part.length <= width) lines[lines.length - 1] = `${last} ${part}`
    else lines.push(part)
  }
  return lines.length === 0 ? [head.trimEnd()] : lines.map((line, index) => (index === 0 ? head : " ".repeat(head.length)) + line)
}

const table = (rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> => {
  const left = Math.min(34, Math.max(...rows.map(([name]) => name.length)))
  return rows.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrap(text, Math.max(30, width - left - 4))
    const indent = " ".repeat(left + 4)
    const head = name.length > left ? [`  ${name}`, `${indent}${first}`] : [`  ${name.padEnd(left)}  ${first}`.trimEnd()]
    return [...head, ...rest.map((line) => indent + line)]
  })
}

/** `-e, --eval PROGRAM`, as help and reference show a flag. */
export const flagTitle = (name: string, flag: Flag<unknown>, aligned = true): string => {
  const short = flag.short === undefined ? (aligned ? "    " : "") : `-${flag.short}, `
  return `${short}--${name}${flag.placeholder === "" ? "" : ` ${flag.placeholder}`}`
}

/** What a flag does, how often it may stand and what holds without it. */
export const flagText = (flag: Flag<unknown>): string => {
  const notes = [
    flag.arity === "many" ? "may stand many times" : "",
    flag.fallback === undefined ? "" : `default: ${flag.fallback}`,
  ]
  const shown = notes.filter((note) => note !== "")
  return shown.length === 0 ? flag.summary : `${flag.summary} (${shown.join("; ")})`
}

const flagRows = (flags: Flags) => Object.entries(flags).map(([name, flag]) => [flagTitle(name, flag), flagText(flag)] as const)

const usageFlag = (name: string, flag: Flag<unknown>): string => {
  const spelled = flag.short === undefined ? `--${name}` : `-${flag.short}`
  return flag.placeholder === "" ? spelled : `${spelled} ${flag.placeholder}`
}

/** The usage line: what excludes each other shares a bracket, flags follow the parameters. */
export const usage = (path: ReadonlyArray<string>, entry: Entry): string => {
  if (entry.kind === "group") return `${path.join(" ")} COMMAND`
  const shared = new Map(entry.exclusive.flatMap((set) => set.map((name) => [name, set] as const)))
  const spell = (name: string): string => {
    const flag = entry.flags[name]
    return flag === undefined ? name : usageFlag(name, flag)
  }
  const parts: Array<string> = []
  const done = new Set<string>()
  for (const name of [...Object.keys(entry.parameters), ...Object.keys(entry.flags)]) {
    if (done.has(name)) continue
    const set = shared.get(name) ?? [name]
    for (const member of set) done.add(member)
    const required = set.length === 1 && entry.parameters[name]?.required === true
    const many = entry.flags[name]?.arity === "many" || entry.parameters[name]?.many === true ? "..." : ""
    parts.push(required ? `${name}${many}` : `[${set.map(spell).join(" | ")}]${many}`)
  }
  return [...path, ...parts].join(" ")
}

const commandHelp = (path: ReadonlyArray<string>, command: Command): ReadonlyArray<string> => {
  const parameters = Object.entries(command.parameters).map(([name, parameter]) => [name, parameter.summary] as const)
  return [
    ...wrap(`${path.join(" ")}: ${command.summary}`, width),
    "",
    ...usageLines(path, command),
    ...command.details.flatMap((paragraph) => ["", ...wrap(paragraph, width)]),
    ...(parameters.length === 0 ? [] : ["", "arguments", ...table(parameters)]),
    "",
    "flags",
    ...table(flagRows({ ...command.flags, ...globalFlags })),
    ...(command.examples.length === 0 ? [] : ["", "examples"]),
    ...command.examples.flatMap((example) => [`  kit ${example.line}`, `      ${example.does}`]),
  ]
}

/** Every command under `group` with its words, in the order it was declared. */
export const commandsOf = (group: Group, path: ReadonlyArray<string>): ReadonlyArray<readonly [ReadonlyArray<string>, Command]> =>
  group.members.flatMap((member) =>
    member.kind === "command" ? [[[...path, member.name], member] as const] : commandsOf(member, [...path, member.name]),
  )

const groupHelp = (path: ReadonlyArray<string>, group: Group): ReadonlyArray<string> => {
  const rows = commandsOf(group, []).map(([words, command]) => [words.join(" "), command.summary] as const)
  return [
    `${path.join(" ")}: ${group.summary}`,
    "",
    ...usageLines(path, group),
    "",
    "commands",
    ...table(rows),
    "",
    "flags",
    ...table(flagRows(path.length === 1 ? rootFlags : globalFlags)),
    "",
    `${path.join(" ")} COMMAND --help tells more about one command.`,
  ]
}

/** The long help of a command or a group, with a final line feed. */
export const help = (path: ReadonlyArray<string>, entry: Entry): string =>
  `${(entry.kind === "group" ? groupHelp(path, entry) : commandHelp(path, entry)).join("\n")}\n`

export * as Help from "./Help.ts"
