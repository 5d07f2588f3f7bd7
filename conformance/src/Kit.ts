import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Subject, Version } from "./Agent.ts"

const fence = "```"

/** `kit acp` as a subject, with a home and a working directory of its own, which `remove` takes away. */
export const kit = (version: Version, batches = false): { readonly subject: Subject; readonly remove: () => void } => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "conformance-kit-")))
  const program = fileURLToPath(new URL("../../apps/kit/bin/kit.js", import.meta.url))
  return {
    subject: {
      command: [
        process.execPath,
        program,
        "acp",
        "--protocol-version",
        version === 1 ? "1" : "auto",
        ...(batches ? ["--batches", "jsonrpc"] : []),
      ],
      batches,
      version,
      cwd: folder,
      env: { KIT_HOME: join(folder, ".kit-home") },
      prompts: {
        quick: "hello",
        tool: `${fence}runlet intent="look around"\nreturn shell({ command: "pwd" }).stdout\n${fence}`,
        slow: `${fence}runlet\nreturn shell({ command: "sleep 60" })\n${fence}`,
      },
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
