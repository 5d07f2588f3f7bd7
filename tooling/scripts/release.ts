/**
 * Publishes what `changeset version` has numbered: `bun run release [--dry-run] [--registry URL]`.
 * Builds, packs and publishes every public member, each after those it depends on, then tags. A version that the
 * registry has already is left out, so a release that broke off can be repeated.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { pack, publish, type Tarball } from "./Publishing.ts"
import { root } from "./Workspace.ts"

const { values } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    registry: { type: "string", default: "https://registry.npmjs.org" },
  },
})

const step = (command: ReadonlyArray<string>) => {
  const { exitCode } = Bun.spawnSync([...command], { cwd: root, stdio: ["ignore", "inherit", "inherit"] })
  if (exitCode !== 0) process.exit(exitCode)
}

const isPublished = async ({ member: { manifest } }: Tarball) => {
  const answer = await fetch(`${values.registry}/${manifest.name.replace("/", "%2f")}`)
  if (answer.status === 404) return false
  if (!answer.ok) throw new Error(`${values.registry} answered ${answer.status} for ${manifest.name}`)
  const { versions } = (await answer.json()) as { versions: Record<string, unknown> }
  return manifest.version in versions
}

step(["turbo", "run", "build"])
const directory = mkdtempSync(join(tmpdir(), "kit-release-"))
try {
  for (const tarball of await pack(root, directory)) {
    const label = `${tarball.member.manifest.name} ${tarball.member.manifest.version}`
    if (await isPublished(tarball)) console.log(`${label}: is there already`)
    else {
      await publish(tarball, values.registry, values["dry-run"])
      console.log(`${label}: ${values["dry-run"] ? "would be published" : "published"}`)
    }
  }
} finally {
  rmSync(directory, { recursive: true })
}
if (!values["dry-run"]) step(["bun", "--bun", "node_modules/.bin/changeset", "tag"])
