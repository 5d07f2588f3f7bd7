import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const modules = join(root, "node_modules")
const stamp = join(modules, ".kit-setup")
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const version = manifest.packageManager.replace(/^bun@/, "")

/** The environment of every command: caches inside the project, no telemetry, the project's own tools first. */
export const environment = {
  ...process.env,
  PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH ?? ""}`,
  BUN_INSTALL_CACHE_DIR: process.env.BUN_INSTALL_CACHE_DIR ?? join(modules, ".cache", "bun"),
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: process.env.BUN_RUNTIME_TRANSPILER_CACHE_PATH ?? join(modules, ".cache", "transpiled"),
  npm_config_cache: join(modules, ".cache", "npm"),
  npm_config_update_notifier: "false",
  DO_NOT_TRACK: "1",
  TURBO_TELEMETRY_DISABLED: "1",
}

/** Runs a command with the terminal of this one; ends this process with its exit code where it fails. */
export const run = (command, args, options = {}) => {
  const { allowFailure = false, ...rest } = options
  const result = spawnSync(command, args, { cwd: root, env: environment, stdio: "inherit", ...rest })
  if (result.error !== undefined) {
    process.stderr.write(`${command}: ${result.error.message}\n`)
    process.exit(1)
  }
  const code = result.status ?? 1
  if (code !== 0 && !allowFailure) process.exit(code)
  return code
}

const say = (line) => process.stderr.write(`${line}\n`)

const bunOf = (directory) => join(directory, "bun", "bin", "bun.exe")

const works = (bun) => existsSync(bun) && spawnSync(bun, ["--version"], { encoding: "utf8" }).stdout?.trim() === version

/**
 * A bun of the pinned version. npm fetches it without its install script, which npm 12 refuses to run, and we run
 * that script ourselves: it only moves the binary of this platform, which npm has fetched already, to its place.
 */
const bootstrap = () => {
  const installed = bunOf(modules)
  if (works(installed)) return installed
  const directory = join(modules, ".cache", "bootstrap")
  const bun = bunOf(join(directory, "node_modules"))
  if (works(bun)) return bun
  say(`set-up: fetching bun ${version}`)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "package.json"), "{}\n")
  const npm = process.env.npm_execpath
  const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", `bun@${version}`]
  const quiet = { cwd: directory, stdio: ["ignore", "ignore", "inherit"] }
  if (npm?.endsWith(".js")) run(process.execPath, [npm, ...args], quiet)
  else run("npm", args, quiet)
  run(process.execPath, [join(directory, "node_modules", "bun", "install.js")], quiet)
  return bun
}

/** Installs what the lockfile names, unless that was done before. Returns the path of bun. */
export const setUp = () => {
  const wanted = createHash("sha256")
    .update(readFileSync(join(root, "bun.lock")))
    .digest("hex")
  const done = existsSync(stamp) ? readFileSync(stamp, "utf8") : ""
  if (done !== wanted || !works(bunOf(modules))) {
    const bun = bootstrap()
    say("set-up: installing dependencies")
    run(bun, ["install", "--frozen-lockfile"], { stdio: ["ignore", "ignore", "inherit"] })
    rmSync(join(modules, ".cache", "bootstrap"), { recursive: true, force: true })
    writeFileSync(stamp, wanted)
  }
  return bunOf(modules)
}
