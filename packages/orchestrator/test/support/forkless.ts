/** `kit acp` from its sources, as an older one that does not advertise `session/fork`. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../../../apps/kit-acp/src/main.ts", import.meta.url))
const kit = spawn(process.execPath, ["--conditions=@acp-kit/source", main, ...process.argv.slice(2)], {
  stdio: ["pipe", "pipe", "inherit"],
})
process.stdin.pipe(kit.stdin)
createInterface({ input: kit.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
  const frame = JSON.parse(line)
  delete frame.result?.capabilities?.session?.fork
  delete frame.result?.agentCapabilities?.sessionCapabilities?.fork
  process.stdout.write(`${JSON.stringify(frame)}\n`)
})
kit.on("exit", (code) => process.exit(code ?? 1))
