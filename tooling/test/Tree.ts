import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach } from "vitest"

const made: Array<string> = []

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** A temporary folder with these files, by path; removed after the test. */
export const tree = (files: Readonly<Record<string, string>>): string => {
  const at = mkdtempSync(join(tmpdir(), "kit-tooling-"))
  made.push(at)
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(at, file)), { recursive: true })
    writeFileSync(join(at, file), content)
  }
  return at
}
