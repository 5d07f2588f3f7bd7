import { readFileSync } from "node:fs"
import type { BunPlugin } from "bun"

/** Stands before a transformed module: a value that is made when it is first looked into, and then behaves like itself. */
const deferred = `const deferred = (make) => {
  let made
  const target = () => (made ??= make())
  return new Proxy({}, {
    get: (_, key) => target()[key],
    set: (_, key, value) => { target()[key] = value; return true },
    has: (_, key) => key in target(),
    ownKeys: () => Reflect.ownKeys(target()),
    getOwnPropertyDescriptor: (_, key) => {
      const found = Reflect.getOwnPropertyDescriptor(target(), key)
      return found && { ...found, configurable: true }
    },
    getPrototypeOf: () => Reflect.getPrototypeOf(target()),
  })
}
`

const constant = /^((?:export )?const z\w+) = ([\s\S]*?);\n(?=\/\*\*|\/\/|export |const |function |$(?![\s\S]))/gm

/**
 * Makes the schema constants of a generated module lazy; `undefined` where the module does not look as expected. The protocol's schemas
 * are six hundred objects, built at import, of which a connection uses a few: building them took a third of the start of `kit acp`.
 */
export const lazy = (source: string): string | undefined => {
  const expected = source.match(/^(?:export )?const z/gm)?.length ?? 0
  let found = 0
  const transformed = source.replace(constant, (_, declaration: string, value: string) => {
    found++
    return `${declaration} = deferred(() => ${value});\n`
  })
  return found > 0 && found === expected ? deferred + transformed : undefined
}

/** Makes the schemas of the protocol's SDK lazy in a bundle; fails the build where their file has another shape. */
export const lazySchemas: BunPlugin = {
  name: "lazy-schemas",
  setup: (build) => {
    build.onLoad(
      { filter: /agentclientprotocol.*[\\/]v[12][\\/]unstable[\\/]schema[\\/](?:zod|guards)\.gen\.js$/ },
      ({ path }) => {
        const source = readFileSync(path, "utf8")
        const contents = source.includes('"zod/v4"') ? lazy(source) : source
        if (contents === undefined) throw new Error(`${path} does not look like a generated schema module`)
        return { contents, loader: "js" }
      },
    )
  },
}
