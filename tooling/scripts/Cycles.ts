import { readFileSync } from "node:fs"
import { join, normalize } from "node:path"
import { importsOf } from "./Imports.ts"
import { filesBelow } from "./Workspace.ts"

type Graph = ReadonlyMap<string, ReadonlyArray<string>>

/** What each source file loads of its own package when it is loaded itself: no types, no `import()`, not the file's own namespace. */
const loads = (at: string): Graph =>
  new Map(
    ["packages", "apps"]
      .flatMap((group) => filesBelow(at, group, [".ts"]))
      .filter((file) => /^[^/]+\/[^/]+\/src\//.test(file) && !/^[^/]+\/[^/]+\/src\/index\.ts$/.test(file))
      .map((file) => [
        file,
        importsOf(readFileSync(join(at, file), "utf8"))
          .filter((found) => !found.typeOnly && !found.dynamic && found.specifier.startsWith("."))
          .map((found) => normalize(join(file, "..", found.specifier)))
          .filter((target) => target !== file),
      ]),
  )

/** Every ring of files that load each other, once, as `a.ts -> b.ts -> a.ts`. Empty is good. */
export const cycles = (at: string): ReadonlyArray<string> => {
  const graph = loads(at)
  const rings = new Map<string, string>()
  const done = new Set<string>()
  const visit = (file: string, path: ReadonlyArray<string>) => {
    const seen = path.indexOf(file)
    if (seen >= 0) {
      const ring = path.slice(seen)
      rings.set([...ring].sort().join(), [...ring, file].join(" -> "))
      return
    }
    if (done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return [...rings.values()]
}
