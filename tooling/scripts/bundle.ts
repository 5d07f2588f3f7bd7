/**
 * Builds the `kit` executable in `apps/kit/dist`: `kit.js`, which looks at the arguments and loads nothing else for
 * `--version`; `cli.js`, the command line; `acp.js`, the nested server. The last two are one CJS file each with bytecode:
 * Bun makes bytecode of nothing else, and it halves their start. Source maps go to `apps/kit/maps`: beside a program, Bun
 * would read them at each start. Every file is complete before it has its final name, the dispatcher last, so a `kit` that
 * starts meanwhile works.
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

const program: Pick<Bun.BuildConfig, "format" | "bytecode" | "plugins"> = {
  format: "cjs",
  bytecode: true,
  plugins: [lazySchemas],
}
const commandLine = { path: "./cli.js", external: true }

mkdirSync(dist, { recursive: true })
mkdirSync(maps, { recursive: true })
const staging = mkdtempSync(join(app, ".bundle-"))
try {
  await build(staging, {
    entrypoints: [join(app, "src/main.ts")],
    format: "esm",
    naming: { entry: "kit.[ext]" },
    plugins: [{ name: "cli", setup: (build) => void build.onResolve({ filter: /^\.\/Cli\.ts$/ }, () => commandLine) }],
  })
  await build(staging, { ...program, entrypoints: [join(app, "src/Cli.ts")], naming: { entry: "cli.[ext]" } })
  await build(staging, { ...program, entrypoints: [join(root, "apps/kit-acp/src/main.ts")], naming: { entry: "acp.[ext]" } })
  const files = readdirSync(staging).sort((a, b) => Number(a === "kit.js") - Number(b === "kit.js"))
  for (const file of files) renameSync(join(staging, file), join(file.endsWith(".map") ? maps : dist, file))
  for (const directory of [dist, maps]) {
    for (const file of readdirSync(directory)) if (!files.includes(file)) rmSync(join(directory, file))
  }
  const size = files.filter((file) => !file.endsWith(".map")).reduce((sum, file) => sum + Bun.file(join(dist, file)).size, 0)
  console.log(`apps/kit/dist: ${files.filter((file) => !file.endsWith(".map")).length} files, ${Math.round(size / 1024)} KiB`)
} finally {
  if (existsSync(staging)) rmSync(staging, { recursive: true })
}
