import manifest from "../package.json" with { type: "json" }

const argv = process.argv.slice(2)

if (argv[0] === "--version" || argv[0] === "-V") process.stdout.write(`kit ${manifest.version}\n`)
else (await import("./Cli.ts")).run(argv, manifest.version)
