import { mkdirSync, renameSync } from "node:fs"
import { join } from "node:path"
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

const run = (command: ReadonlyArray<string>, cwd: string): string => {
  const result = Bun.spawnSync([...command], { cwd, stderr: "pipe" })
  if (result.exitCode !== 0) throw new Error(`${command.join(" ")} in ${cwd}:\n${result.stdout}${result.stderr}`)
  return result.stdout.toString()
}

/** Packs every published member of a built workspace, in the order of publishing. bun writes versions in place of `workspace:` and `catalog:`; npm does not. */
export const pack = (at: string, destination: string): ReadonlyArray<Tarball> => {
  mkdirSync(destination, { recursive: true })
  return publishOrder(members(at)).map((member) => {
    const cwd = join(at, member.directory)
    const printed = run([process.execPath, "pm", "pack", "--quiet", "--destination", destination], cwd).trim()
    const file = join(destination, `${member.manifest.name.replace("@", "").replace("/", "-")}.tgz`)
    renameSync(printed.split("\n").at(-1) as string, file)
    return { member, file }
  })
}

/** Publishes a tarball. The registry's token is read from `NPM_CONFIG_TOKEN` by bun. */
export const publish = (tarball: Tarball, registry: string, dryRun: boolean): void => {
  run(
    [process.execPath, "publish", tarball.file, "--access", "public", "--registry", registry, ...(dryRun ? ["--dry-run"] : [])],
    join(tarball.file, ".."),
  )
}
