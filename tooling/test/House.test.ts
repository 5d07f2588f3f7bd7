import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { importsOf, packageOf } from "../scripts/Imports.ts"
import { publishOrder } from "../scripts/Publishing.ts"
import { filesBelow, members, root } from "../scripts/Workspace.ts"

const read = (file: string) => readFileSync(join(root, file), "utf8")
const manifest = JSON.parse(read("package.json"))

/** Every package that a source file of the workspace imports. */
const imported = new Set(
  ["packages", "apps"]
    .flatMap((group) => filesBelow(root, group, [".ts"]))
    .flatMap((file) => importsOf(read(file)).map((found) => packageOf(found.specifier))),
)

test("C01 the top level holds what the user named", () => {
  const named = ["package.json", "turbo.json", "packages", "apps", "tooling", ".changeset", "tsconfig.base.json"]
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

test("C04 each package that the user named is used, as itself or as what replaced it", () => {
  expect([...imported]).toEqual(expect.arrayContaining(["@agentclientprotocol/sdk", "effect", "@effect/platform-node-shared"]))
  expect([...imported]).not.toEqual(expect.arrayContaining(["@effect/schema"]))
  expect(manifest.devDependencies).toMatchObject({ turbo: expect.any(String), "bun-types": expect.any(String) })
  expect(manifest.devDependencies).toHaveProperty("@changesets/cli")
  expect(JSON.parse(read("tsconfig.base.json")).compilerOptions.types).toEqual(["bun-types"])
  expect(manifest.scripts.build).toContain("turbo")
  expect(JSON.parse(read(".changeset/config.json")).fixed).toEqual([["@acp-kit/*"]])
})

test.each(["@agentclientprotocol/sdk", "effect", "@effect/schema", "@effect/platform", "turbo", "changesets", "bun-types"])(
  "C04 the README's dependencies begin with a table that says what stands for %s",
  (name) => {
    const table = /## Dependencies\n+((?:\|.*\n)+)/.exec(read("README.md"))?.[1] ?? ""
    expect(
      table.split("\n").filter((row) => row.split("|")[1]?.includes(`\`${name}\``) || row.split("|")[1]?.trim() === name),
    ).toHaveLength(1)
  },
)

test("every version of a dependency is exact", () => {
  const loose = [{ directory: ".", manifest }, ...members(root)].flatMap((member) =>
    Object.entries({
      ...member.manifest.dependencies,
      ...member.manifest.devDependencies,
      ...member.manifest.workspaces?.catalog,
    })
      .filter(([, version]) => !/^(?:(?:npm:[@\w/-]+@)?\d+\.\d+\.\d+|catalog:|workspace:\*)$/.test(version as string))
      .map(([name, version]) => `${member.directory}: ${name}@${version}`),
  )
  expect(loose).toEqual([])
})

test("a package is published after those it depends on", () => {
  const order = publishOrder(members(root)).map((member) => member.manifest)
  for (const [index, one] of order.entries()) {
    const later = order.slice(index).map((other) => other.name)
    expect(Object.keys(one.dependencies ?? {}).filter((name) => later.includes(name))).toEqual([])
  }
  expect(order.map((one) => one.name)).not.toContain("@acp-kit/testing")
})

test("packages that depend on each other cannot be published", () => {
  const ring = (name: string, other: string) => ({
    directory: name,
    manifest: { name, version: "1.0.0", dependencies: { [other]: "*" } },
  })
  expect(() => publishOrder([ring("a", "b"), ring("b", "a")])).toThrow("these depend on each other: a, b")
})

test("AGENTS.md stays short", () => {
  expect(read("AGENTS.md").trimEnd().split("\n").length).toBeLessThanOrEqual(80)
})
