import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"

/** What the system searches where no `PATH` is set. */
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

const verdict = (file: string): "ENOENT" | "EACCES" | "ok" => {
  try {
    if (!Fs.statSync(file).isFile()) return "EACCES"
  } catch {
    return "ENOENT"
  }
  try {
    Fs.accessSync(file, Fs.constants.X_OK)
    return "ok"
  } catch {
    return "EACCES"
  }
}

/**
 * The absolute path of the file that a command names: itself, or below `cwd` where it contains a slash, else the first executable on `path`.
 * Fails with `ENOENT`, or `EACCES` where there is a file but none that may be executed.
 */
export const find = (command: string, path: string | undefined, cwd: string): Effect.Effect<string, "ENOENT" | "EACCES"> =>
  Effect.suspend(() => {
    const candidates = command.includes("/")
      ? [Path.resolve(cwd, command)]
      : (path ?? defaultPath).split(":").map((directory) => Path.resolve(cwd, directory, command))
    if (command === "") return Effect.fail("ENOENT" as const)
    let reason: "ENOENT" | "EACCES" = "ENOENT"
    for (const file of candidates) {
      const found = verdict(file)
      if (found === "ok") return Effect.succeed(file)
      if (found === "EACCES") reason = found
    }
    return Effect.fail(reason)
  })

export * as Executable from "./Executable.ts"
