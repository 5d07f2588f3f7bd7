import { readFileSync } from "node:fs"
import { join } from "node:path"
import { filesBelow } from "./Workspace.ts"

/** Lines from which a source file is refused. */
export const wall = 600

const places = ["packages", "apps", "tooling", "bench", "runtime-tests", "conformance"]

/** Every hand-written file of `wall` lines or more. Generated code lives in `gen/` and is not counted. Empty is good. */
export const sizes = (at: string): ReadonlyArray<string> =>
  places
    .flatMap((place) => filesBelow(at, place, [".ts", ".mjs", ".js"]))
    .filter((file) => !file.includes("/gen/"))
    .flatMap((file) => {
      const lines = readFileSync(join(at, file), "utf8").split("\n").length - 1
      return lines >= wall ? [`${file}: ${lines} lines; ${wall} is the wall`] : []
    })
