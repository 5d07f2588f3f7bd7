import { readFileSync } from "node:fs"
import { join, normalize } from "node:path"
import { type Import, importsOf, packageOf } from "./Imports.ts"
import { filesBelow, type Member, members } from "./Workspace.ts"

const scope = "@acp-kit/"

interface Arrow {
  /** Members of the workspace that this one may know. */
  readonly workspace: ReadonlyArray<string>
  /** Packages of others that it may know. */
  readonly external: ReadonlyArray<string>
  /** It may see modules of Effect that are bound to a runtime or still move. */
  readonly bound?: true
}

/** Who may know whom. A member that is not here, and an entry without a member, are refused. */
export const arrows: Readonly<Record<string, Arrow>> = {
  "packages/protocol": { workspace: [], external: ["effect", "@agentclientprotocol/sdk"] },
  "packages/store": { workspace: [], external: ["effect"] },
  "packages/json-schema": { workspace: [], external: ["effect", "@cfworker/json-schema"] },
  "packages/runlet": { workspace: ["json-schema"], external: ["effect"] },
  "packages/platform": { workspace: [], external: ["effect", "@effect/platform-node-shared"], bound: true },
  "packages/orchestrator": {
    workspace: ["protocol", "store", "runlet", "json-schema", "platform"],
    external: ["effect", "smol-toml"],
  },
  "packages/agent": {
    workspace: ["orchestrator", "runlet", "store", "json-schema", "platform"],
    external: ["effect"],
  },
  "packages/acp-server": {
    workspace: ["agent", "orchestrator", "runlet", "store", "protocol", "platform"],
    external: ["effect", "@agentclientprotocol/sdk", "zod"],
  },
  "packages/cli": {
    workspace: ["agent", "orchestrator", "runlet", "store", "platform"],
    external: ["effect"],
  },
  "packages/testing": {
    workspace: ["platform"],
    external: ["effect", "@agentclientprotocol/sdk", "zod", "acp-sdk-0.12"],
    bound: true,
  },
  "apps/kit": {
    workspace: ["cli", "kit-acp", "agent", "orchestrator", "json-schema", "runlet", "store", "protocol", "platform"],
    external: ["effect"],
    bound: true,
  },
  "apps/kit-acp": {
    workspace: ["acp-server", "agent", "orchestrator", "json-schema", "runlet", "store", "protocol", "platform"],
    external: ["effect"],
    bound: true,
  },
}

/** Known in tests of every member beside what its sources know. */
const testOnly = {
  workspace: ["testing", "platform", "json-schema"],
  external: ["vitest", "@effect/vitest", "@agentclientprotocol/sdk", "zod", "@cfworker/json-schema"],
}

/** Modules that only the runtime's owner sees: they differ between runtimes, or still move between versions of Effect. */
const boundModules = /^(?:effect\/(?:cli|http|process|rpc|socket|workers)(?:\/|$)|@effect\/platform-)/

/** Files that may use modules of one runtime, `bun:sqlite` say. */
const runtimeFiles = [
  /^packages\/platform\/src\//,
  /^packages\/store\/src\/(?:Disk\w*|Lock)\.ts$/,
  /^packages\/testing\/src\//,
  /^apps\//,
]

const refusedManifest = (member: Member, arrow: Arrow): ReadonlyArray<string> => {
  const allowed = new Set([...arrow.external, ...arrow.workspace.map((name) => scope + name)])
  const allowedInTests = new Set([...allowed, ...testOnly.external, ...testOnly.workspace.map((name) => scope + name)])
  const isApp = member.directory.startsWith("apps/")
  const refuse = (name: string) => `${member.directory}/package.json: must not know ${name}`
  return [
    ...Object.keys(member.manifest.dependencies ?? {})
      .filter((name) => !allowed.has(name))
      .map(refuse),
    ...Object.keys(member.manifest.devDependencies ?? {})
      .filter((name) => !allowedInTests.has(name))
      .map(refuse),
    ...(isApp && member.manifest.private !== true && Object.keys(member.manifest.dependencies ?? {}).length > 0
      ? [`${member.directory}/package.json: the published program is a bundle and has no dependencies`]
      : []),
  ]
}

/** Used without an import of ours: a library's peer, and what the bundle of a program is built from. */
const peers: Readonly<Record<string, ReadonlyArray<string>>> = { "@agentclientprotocol/sdk": ["zod"] }
const bundled: Readonly<Record<string, ReadonlyArray<string>>> = { "apps/kit": ["@acp-kit/kit-acp"] }

const unused = (at: string, member: Member): ReadonlyArray<string> => {
  const used = (parts: ReadonlyArray<string>) => {
    const found = parts
      .flatMap((part) => filesBelow(at, `${member.directory}/${part}`, [".ts"]))
      .flatMap((file) => importsOf(readFileSync(join(at, file), "utf8")).map((one) => packageOf(one.specifier) ?? ""))
    return new Set(found.flatMap((name) => [name, ...(peers[name] ?? [])]))
  }
  const inSources = used(["src"])
  const anywhere = new Set([...used(["src", "test"]), ...(bundled[member.directory] ?? [])])
  const { dependencies = {}, devDependencies = {} } = member.manifest
  return [
    ...Object.keys(dependencies).filter((name) => !inSources.has(name)),
    ...Object.keys(devDependencies).filter((name) => !anywhere.has(name)),
  ].map((name) => `${member.directory}/package.json: ${name} is never imported`)
}

const refusedImport = (member: Member, arrow: Arrow, file: string, found: Import): string | undefined => {
  const inTest = !file.startsWith(`${member.directory}/src/`)
  const { specifier } = found
  if (specifier.startsWith(".")) {
    const target = normalize(join(file, "..", specifier))
    return inTest || target.startsWith(`${member.directory}/`) ? undefined : `${specifier} leaves the package`
  }
  if (specifier.startsWith("bun:")) {
    return inTest || runtimeFiles.some((allowed) => allowed.test(file)) ? undefined : `${specifier} belongs to one runtime`
  }
  const name = packageOf(specifier)
  if (name === undefined) return undefined
  if (name === member.manifest.name) return inTest ? undefined : `${specifier} is the package itself: import the file`
  if (!inTest && arrow.bound !== true && boundModules.test(specifier)) return `${specifier} is reached through ${scope}platform`
  const workspace = inTest ? [...arrow.workspace, ...testOnly.workspace] : arrow.workspace
  const external = inTest ? [...arrow.external, ...testOnly.external] : arrow.external
  if (!external.includes(name) && !workspace.some((known) => scope + known === name)) return `must not know ${specifier}`
  const { manifest } = member
  const declared = name in (manifest.dependencies ?? {}) || name in (manifest.peerDependencies ?? {})
  const declaredForTests = name in (manifest.devDependencies ?? {}) || name === "vitest" || name === "@effect/vitest"
  const isApp = member.directory.startsWith("apps/")
  return declared || ((inTest || isApp) && declaredForTests) ? undefined : `${name} is not in ${member.directory}/package.json`
}

/** Every place where a member knows what it must not, as `file:line: why`. Empty is good. */
export const boundaries = (at: string): ReadonlyArray<string> => {
  const found = members(at)
  const known = new Set(found.map((member) => member.directory))
  return [
    ...Object.keys(arrows)
      .filter((directory) => !known.has(directory))
      .map((directory) => `${directory}: is in the table and not in the tree`),
    ...found.flatMap((member) => {
      const arrow = arrows[member.directory]
      if (arrow === undefined) return [`${member.directory}: is not in the table of tooling/scripts/Boundaries.ts`]
      return [
        ...refusedManifest(member, arrow),
        ...unused(at, member),
        ...["src", "test"]
          .flatMap((part) => filesBelow(at, `${member.directory}/${part}`, [".ts"]))
          .flatMap((file) =>
            importsOf(readFileSync(join(at, file), "utf8")).flatMap((one) => {
              const why = refusedImport(member, arrow, file, one)
              return why === undefined ? [] : [`${file}:${one.line}: ${why}`]
            }),
          ),
      ]
    }),
  ]
}
