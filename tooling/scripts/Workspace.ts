import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

/** Absolute path of the repository this script belongs to. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, unknown>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** A workspace member: `directory` is relative to the root, `manifest` its package.json. */
export interface Member {
  readonly directory: string
  readonly manifest: Manifest
}

const memberAt = (at: string, directory: string): ReadonlyArray<Member> => {
  const manifest = join(at, directory, "package.json")
  return existsSync(manifest) ? [{ directory, manifest: JSON.parse(readFileSync(manifest, "utf8")) as Manifest }] : []
}

/** The members below `apps/` and `packages/`, by directory. */
export const members = (at: string): ReadonlyArray<Member> =>
  ["apps", "packages"].flatMap((group) =>
    existsSync(join(at, group))
      ? readdirSync(join(at, group))
          .sort()
          .flatMap((name) => memberAt(at, `${group}/${name}`))
      : [],
  )

/** The members that prove a claim or build the rest; none is published. */
export const privateMembers = (at: string): ReadonlyArray<Member> =>
  ["tooling", "conformance", "runtime-tests", "bench"].flatMap((directory) => memberAt(at, directory))

const skipped = new Set(["node_modules", "dist", "maps", ".turbo", ".git", "coverage"])

/** Every file below `directory` whose name ends in one of `endings`, as a path relative to `at`, sorted. */
export const filesBelow = (at: string, directory: string, endings: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const walk = (path: string) => {
    if (!existsSync(path)) return
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (skipped.has(entry.name)) continue
      const child = join(path, entry.name)
      if (entry.isDirectory()) walk(child)
      else if (endings.some((ending) => entry.name.endsWith(ending))) found.push(relative(at, child))
    }
  }
  walk(join(at, directory))
  return found.sort()
}
