import manifest from "../package.json" with { type: "json" }

const [command] = process.argv.slice(2)

if (command === "--version" || command === "-V") process.stdout.write(`kit ${manifest.version}\n`)
else await import("./Cli.ts")
