/**
 * Builds the `kit` executable: `apps/kit/dist/kit.js`, a split ESM bundle, and `apps/kit/dist/acp.js`, one CJS file
 * with bytecode, for the nested server. Source maps go to `apps/kit/maps`: beside the program, Bun would read them at
 * each start. Every file is complete before it has its final name, entries last, so a `kit` that starts meanwhile works.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { lazySchemas } from "./LazySchemas.ts"
import { root } from "./Workspace.ts"

const app = join(root, "apps/kit")
const dist = join(app, "dist")
const maps = join(app, "maps")

const build = async (outdir: string, options: Omit<Bun.BuildConfig, "outdir">) => {
  const result = await Bun.build({
    target: "bun",
    minify: true,
    sourcemap: "external",
    conditions: ["@acp-kit/source"],
    throw: false,
    ...options,
    outdir,
  } as Bun.BuildConfig)
  if (result.success) return
  for (const log of result.logs) console.error(String(log))
  process.exit(1)
}

mkdirSync(dist, { recursive: true })
mkdirSync(maps, { recursive: true })
const staging = mkdtempSync(join(app, ".bundle-"))
try {
  await build(staging, {
    entrypoints: [join(app, "src/main.ts")],
    format: "esm",
    splitting: true,
    naming: { entry: "kit.[ext]", chunk: "[name]-[hash].[ext]" },
  })
  await build(staging, {
    entrypoints: [join(root, "apps/kit-acp/src/main.ts")],
    format: "cjs",
    bytecode: true,
    naming: { entry: "acp.[ext]" },
    plugins: [lazySchemas],
  })
  const isEntry = (file: string) => file === "kit.js" || file === "acp.js"
  const files = readdirSync(staging).sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))
  for (const file of files) renameSync(join(staging, file), join(file.endsWith(".map") ? maps : dist, file))
  for (const directory of [dist, maps]) {
    for (const file of readdirSync(directory)) if (!files.includes(file)) rmSync(join(directory, file))
  }
  const size = files.filter((file) => !file.endsWith(".map")).reduce((sum, file) => sum + Bun.file(join(dist, file)).size, 0)
  console.log(`apps/kit/dist: ${files.filter((file) => !file.endsWith(".map")).length} files, ${Math.round(size / 1024)} KiB`)
} finally {
  if (existsSync(staging)) rmSync(staging, { recursive: true })
}
