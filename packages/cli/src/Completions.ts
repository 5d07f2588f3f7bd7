import { globalFlags } from "./Arguments.ts"
import type { Entry, Group } from "./Command.ts"
import { commandsOf } from "./Help.ts"

/** A place on the command line: the words behind `kit`, what may follow, and a text for each. */
interface Place {
  readonly words: ReadonlyArray<string>
  readonly next: ReadonlyArray<readonly [word: string, summary: string]>
}

const flagsOf = (entry: Entry): Place["next"] =>
  Object.entries({ ...(entry.kind === "command" ? entry.flags : {}), ...globalFlags }).map(([name, flag]) => [
    `--${name}`,
    flag.summary,
  ])

const groupsOf = (group: Group, words: ReadonlyArray<string>): ReadonlyArray<Place> => [
  { words, next: group.members.map((member) => [member.name, member.summary] as const) },
  ...group.members.flatMap((member) => (member.kind === "group" ? groupsOf(member, [...words, member.name]) : [])),
]

const places = (root: Group): ReadonlyArray<Place> => [
  ...groupsOf(root, []),
  ...commandsOf(root, []).map(([words, command]) => ({ words, next: flagsOf(command) })),
]

const bash = (root: Group): ReadonlyArray<string> => [
  `_${root.name}() {`,
  `  local word path="" next=""`,
  `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
  `    case "$word" in -*) ;; *) path="$path $word" ;; esac`,
  `  done`,
  `  case "$path" in`,
  ...places(root)
    .toSorted((left, right) => right.words.length - left.words.length)
    .map(({ words, next }) => {
      const pattern = words.length === 0 ? '""' : `" ${words.join(" ")}"*`
      return `    ${pattern}) next="${next.map(([word]) => word).join(" ")}" ;;`
    }),
  `  esac`,
  `  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
  `}`,
  `complete -o default -F _${root.name} ${root.name}`,
]

const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`

const fish = (root: Group): ReadonlyArray<string> => {
  const seen = (words: ReadonlyArray<string>) =>
    words.length === 0 ? "__fish_use_subcommand" : words.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ")
  return [
    `complete -c ${root.name} -f -n __fish_use_subcommand`,
    ...places(root).flatMap(({ words, next }) =>
      next.map(([word, summary]) => {
        const name = word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${word}`
        return `complete -c ${root.name} -n ${quoted(seen(words))} ${name} -d ${quoted(summary)}`
      }),
    ),
  ]
}

/** The shells that completions are written for. */
export const shells = ["bash", "zsh", "fish"] as const

/** The script that a shell reads to complete commands and flags; made from the same values as help. */
export const completions = (root: Group, shell: (typeof shells)[number]): string => {
  const lines =
    shell === "fish" ? fish(root) : shell === "zsh" ? ["autoload -U +X bashcompinit && bashcompinit", ...bash(root)] : bash(root)
  return `${lines.join("\n")}\n`
}

export * as Completions from "./Completions.ts"
