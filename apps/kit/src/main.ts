import manifest from "../package.json" with { type: "json" }

const argv = process.argv.slice(2)

/** The nested server is an executable of its own: beside this one in the bundle, in its app where both run from source. */
const nested = () => new URL(import.meta.url.endsWith(".ts") ? "../../kit-acp/src/main.ts" : "./acp.js", import.meta.url).href

const printVersion = () => {
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") return
    process.stderr.write(`kit: could not write the output: ${code}\n`)
    process.exitCode = 1
  })
  process.stdout.write(`kit ${manifest.version}\n`)
}

if (argv[0] === "--version" || argv[0] === "-V") printVersion()
else if (argv[0] === "acp") await import(nested())
else (await import("./Cli.ts")).run(argv, manifest.version)
