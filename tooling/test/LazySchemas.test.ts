import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, it } from "vitest"
import { lazy } from "../scripts/LazySchemas.ts"
import { root } from "../scripts/Workspace.ts"

interface Schema {
  readonly safeParse: (value: unknown) => {
    readonly success: boolean
    readonly data?: unknown
    readonly error?: { readonly issues: unknown }
  }
}

const sdk = join(root, "packages/acp-server/node_modules/@agentclientprotocol/sdk/dist")
const file = (version: 1 | 2, name: "zod" | "guards" = "zod") => join(sdk, `v${version}/unstable/schema/${name}.gen.js`)

/** The transformed module, at a place of its own. */
const transformed = async (version: 1 | 2, name: "zod" | "guards" = "zod") => {
  const directory = mkdtempSync(join(tmpdir(), "kit-lazy-"))
  const at = dirname(file(version))
  const source = lazy(readFileSync(file(version, name), "utf8"))!
    .replaceAll(/from "(\.[^"]+)"/g, (_, path) => `from "${pathToFileURL(join(at, path))}"`)
    .replace(/from "zod\/v4"/, `from "${pathToFileURL(Bun.resolveSync("zod/v4", at))}"`)
    .replace(/\n\/\/# sourceMappingURL=.*/, "")
  writeFileSync(join(directory, "schemas.mjs"), source)
  try {
    return await import(join(directory, "schemas.mjs"))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const values: ReadonlyArray<unknown> = [
  null,
  "text",
  7,
  {},
  [],
  { protocolVersion: 2, info: { name: "x", version: "1", extra: 1 }, capabilities: { _meta: { a: 1 } } },
  { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true }, session: { notices: {} } } },
  {
    sessionId: "s",
    prompt: [
      { type: "text", text: "hi", _meta: { b: 2 } },
      { type: "image", data: "aa", mimeType: "image/png" },
    ],
  },
  { sessionId: "s", prompt: "hi" },
  {
    cwd: "/",
    mcpServers: [
      { name: "x", command: "/x", args: [], env: [] },
      { type: "http", name: "y", url: "u", headers: [] },
    ],
  },
  { sessionId: "s", configId: "model", value: "m", type: "id" },
  { sessionId: "s", update: { sessionUpdate: "usage_update", used: 1, size: 2 } },
  { sessionId: "s", update: { sessionUpdate: "_custom", anything: [1] } },
  { requestId: 3 },
]

const samples = [
  { type: "text", text: "x" },
  { type: "text" },
  { type: "image", data: "aa", mimeType: "image/png" },
  { type: "_custom" },
  { sessionUpdate: "usage_update", used: 1, size: 2 },
  { sessionUpdate: "usage_update", used: "1" },
  { state: "idle", stopReason: "end_turn" },
  { state: "running" },
  { mode: "form", message: "x", sessionId: "s", requestedSchema: { type: "object" } },
  { stopReason: "error" },
  null,
]

describe("lazySchemas", () => {
  it.each([1, 2] as const)("changes nothing of what the schemas of version %d accept and give", async (version) => {
    const [before, after] = [(await import(file(version))) as Record<string, Schema>, await transformed(version)]
    const names = Object.keys(before).sort()
    expect(Object.keys(after).sort()).toEqual(names)
    expect(names.length).toBeGreaterThan(200)
    for (const name of names) {
      for (const value of values) {
        const [left, right] = [before[name]!.safeParse(value), after[name]!.safeParse(value)]
        expect([name, right.success, right.data, right.error?.issues]).toEqual([
          name,
          left.success,
          left.data,
          left.error?.issues,
        ])
      }
    }
  })

  it.each([1, 2] as const)("changes no answer of the guards of version %d", async (version) => {
    const [before, after] = [await import(file(version, "guards")), await transformed(version, "guards")]
    const answers = (module: Record<string, Record<string, (value: unknown) => boolean>>) =>
      Object.keys(module)
        .sort()
        .flatMap((name) =>
          Object.entries(module[name]!).flatMap(([guard, is]) =>
            samples.map((value) => [name, guard, typeof is === "function" ? is(value) : is]),
          ),
        )
    const given = answers(before)
    expect(given.filter(([, , answer]) => answer === true).length).toBeGreaterThan(3)
    expect(answers(after)).toEqual(given)
  })

  it("refuses a module of another shape", () => {
    expect(lazy("export const zA = z.string(), zB = zA\n")).toBeUndefined()
    expect(lazy("export const other = 1;\n")).toBeUndefined()
  })
})
