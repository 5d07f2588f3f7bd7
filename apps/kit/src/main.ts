import { isMissing } from "@acp-kit/platform/Descriptor"
import { explain } from "@acp-kit/platform/SystemFailure"
import manifest from "../package.json" with { type: "json" }

const argv = process.argv.slice(2)

/** The nested server is an executable of its own: beside this one in the bundle, in its app where both run from source. */
const nested = () => new URL(import.meta.url.endsWith(".ts") ? "../../kit-acp/src/main.ts" : "./acp.js", import.meta.url).href

const lost = (code = "") => {
  if (code === "EPIPE") return
  process.stderr.write(`kit: could not write the output: ${explain(code)}\n`)
  process.exitCode = 1
}

const printVersion = () => {
  if (isMissing(1)) return lost("EBADF")
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => lost(code))
  process.stdout.write(`kit ${manifest.version}\n`)
}

const stands = (words: ReadonlyArray<string | undefined>, ...flags: ReadonlyArray<string>) =>
  words.some((word) => word !== undefined && flags.includes(word))

const serves = argv[0] === "acp"
if (stands(serves ? argv.slice(1, 2) : argv.slice(0, 1), "--version", "-V")) printVersion()
else if (serves && !stands(argv, "--help", "-h")) await import(nested())
else (await import("./Cli.ts")).run(argv, manifest.version)
