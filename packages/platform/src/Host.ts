import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/** What a program may know of the machine it runs on. Read once by the apps, never by a library. */
export interface Interface {
  /** The whole environment, as it was at start. */
  readonly env: Readonly<Record<string, string>>
  /** Absolute path of Kit's home (`KIT_HOME`, else `~/.kit`). It need not exist. */
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

export * as Host from "./Host.ts"
