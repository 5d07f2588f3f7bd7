import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"

const script = "packages/cli/scripts/reference.ts"

/** `docs/reference/cli.md`, made of the commands themselves; nothing where the tree has no command line. */
export const cliPage = (at: string): ReadonlyArray<readonly [file: string, content: string]> => {
  if (!existsSync(join(at, script))) return []
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--conditions=@acp-kit/source", join(at, script)], {
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`${script}: ${stderr}`)
  return [["docs/reference/cli.md", stdout]]
}
