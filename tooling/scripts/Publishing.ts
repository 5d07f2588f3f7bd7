import { mkdirSync, renameSync } from "node:fs"
import { dirname, join } from "node:path"
import { output } from "./Outcomes.ts"
import { type Member, members } from "./Workspace.ts"

/** A published member as a file that a registry takes. */
export interface Tarball {
  readonly member: Member
  /** Absolute path. */
  readonly file: string
}

const known = (member: Member) => Object.keys({ ...member.manifest.dependencies, ...member.manifest.peerDependencies })

/** The members that are published, each after those it depends on. Fails on a ring. */
export const publishOrder = (all: ReadonlyArray<Member>): ReadonlyArray<Member> => {
  const waiting = new Map(
    all.filter((member) => member.manifest.private !== true).map((member) => [member.manifest.name, member]),
  )
  const ordered: Array<Member> = []
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter((member) => known(member).every((name) => !waiting.has(name)))
    if (ready.length === 0) throw new Error(`these depend on each other: ${[...waiting.keys()].join(", ")}`)
    for (const member of ready) {
      ordered.push(member)
      waiting.delete(member.manifest.name)
    }
  }
  return ordered
}

/** Packs every published member of a built workspace, in the order of publishing. bun writes versions in place of `workspace:` and `catalog:`; npm does not. */
export const pack = (at: string, destination: string): ReadonlyArray<Tarball> => {
  mkdirSync(destination, { recursive: true })
  return publishOrder(members(at)).map((member) => {
    const cwd = join(at, member.directory)
    const printed = output([process.execPath, "pm", "pack", "--quiet", "--destination", destination], { cwd }).trim()
    const file = join(destination, `${member.manifest.name.replace("@", "").replace("/", "-")}.tgz`)
    renameSync(printed.split("\n").at(-1) as string, file)
    return { member, file }
  })
}

/** Publishes a tarball. The registry's token is read by bun from `NPM_CONFIG_TOKEN`. */
export const publish = (
  tarball: Tarball,
  registry: string,
  dryRun: boolean,
  env: Readonly<Record<string, string | undefined>> = {},
): void => {
  const flags = ["--access", "public", "--registry", registry, ...(dryRun ? ["--dry-run"] : [])]
  output([process.execPath, "publish", tarball.file, ...flags], { cwd: dirname(tarball.file), env })
}
