import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { selfCommand } from "./SelfCommand.ts"

/** What a program may know of the machine it runs on. Read once by the apps, never by a library. */
export interface Interface {
  /** The whole environment, as it was at start; `HOME` and `KIT_HOME` absolute, so that children elsewhere mean the same places. */
  readonly env: Readonly<Record<string, string>>
  /** Absolute path of Kit's home (`KIT_HOME`, else `.kit` in `HOME`; empty counts as unset). It need not exist. */
  readonly kitHome: string
  /** Absolute path of the working directory at start. */
  readonly cwd: string
  /** The argv prefix that starts this very program again; `[...self, "acp"]` is a nested Kit. */
  readonly self: readonly [string, ...ReadonlyArray<string>]
  /** The version of the program, as `--version` prints it. */
  readonly version: string
}

export class Service extends Context.Service<Service, Interface>()("@acp-kit/platform/Host") {}

export const layerWith = (host: Interface): Layer.Layer<Service> => Layer.succeed(Service, host)

const reasons = {
  HOME_MISSING: "neither KIT_HOME nor HOME is set; set KIT_HOME to the directory that Kit may keep its files in",
  CWD_MISSING: "the working directory does not exist any more; change to one that does",
}

/** There is no place to run in; nothing was read or written. */
export class HostUnusable extends Schema.TaggedError<HostUnusable>()("HostUnusable", {
  code: Schema.Literals(["HOME_MISSING", "CWD_MISSING"]),
}) {
  override get message() {
    return reasons[this.code]
  }
}

/** The names that the system handed over, where it tells; Bun adds those of the `.env` files of the working directory. */
const handedOver = (): ReadonlySet<string> | undefined => {
  try {
    const entries = Fs.readFileSync("/proc/self/environ", "utf8").split("\0")
    return new Set(entries.map((entry) => entry.slice(0, entry.indexOf("="))))
  } catch {
    return undefined
  }
}

const environment = (): Readonly<Record<string, string>> => {
  const names = "Bun" in globalThis ? handedOver() : undefined
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || names?.has(name) === false ? [] : [[name, value]],
    ),
  )
}

/** The environment with its homes taken from `cwd` where they are relative; empty counts as unset. */
const withHomes = (env: Readonly<Record<string, string>>, cwd: string): Readonly<Record<string, string>> => {
  const homes = ["HOME", "KIT_HOME"].flatMap((name) => (env[name] ? [[name, Path.resolve(cwd, env[name])]] : []))
  return { ...env, ...Object.fromEntries(homes) }
}

/** Reads this process: its environment without what a `.env` file of the working directory says, its directory, its own launch line. */
export const read = (version: string): Effect.Effect<Interface, HostUnusable> =>
  Effect.gen(function* () {
    const cwd = yield* Effect.try({
      try: () => process.cwd(),
      catch: () => new HostUnusable({ code: "CWD_MISSING" }),
    })
    const env = withHomes(environment(), cwd)
    const kitHome = env.KIT_HOME || (env.HOME && Path.join(env.HOME, ".kit"))
    if (!kitHome) return yield* new HostUnusable({ code: "HOME_MISSING" })
    return { env, kitHome, cwd, self: selfCommand(), version }
  })

/** The host of a program of this version, read from the process when the layer is built. */
export const layerRead = (version: string): Layer.Layer<Service, HostUnusable> => Layer.effect(Service, read(version))

export * as Host from "./Host.ts"
