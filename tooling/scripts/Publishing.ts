import { mkdirSync, renameSync } from "node:fs"
import { join } from "node:path"
import { output } from "./Outcomes.ts"
import { type Member, members } from "./Workspace.ts"

/** A published member as a file that a registry takes. */
export interface Tarball {
  readonly member: Member
  /** Absolute path. */
  readonly file: string
  /** Absolute path of the folder it was packed from. */
  readonly source: string
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
export const pack = async (at: string, destination: string): Promise<ReadonlyArray<Tarball>> => {
  mkdirSync(destination, { recursive: true })
  const tarballs: Array<Tarball> = []
  for (const member of publishOrder(members(at))) {
    const command = [process.execPath, "pm", "pack", "--quiet", "--destination", destination]
    const source = join(at, member.directory)
    const printed = await output(command, { cwd: source })
    const file = join(destination, `${member.manifest.name.replace("@", "").replace("/", "-")}.tgz`)
    renameSync(printed.trim().split("\n").at(-1) as string, file)
    tarballs.push({ member, file, source })
  }
  return tarballs
}

/** Publishes a tarball. The registry's token is read by bun from `NPM_CONFIG_TOKEN`. */
export const publish = async (
  tarball: Tarball,
  registry: string,
  dryRun: boolean,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<void> => {
  const flags = ["--access", "public", "--registry", registry, ...(dryRun ? ["--dry-run"] : [])]
  await output([process.execPath, "publish", tarball.file, ...flags], { cwd: tarball.source, env })
}
