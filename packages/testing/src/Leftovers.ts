import * as Fs from "node:fs"

/** A process that should have been gone. */
export interface Leftover {
  readonly pid: number
  readonly command: string
}

const read = (pid: string, file: string): string => {
  try {
    return Fs.readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return ""
  }
}

/**
 * The processes whose environment holds `variable=value`: what was started below it, whichever group or session it moved to. Needs `/proc`.
 * A process that has ended and was not yet reaped does not count.
 */
export const leftovers = (variable: string, value: string): ReadonlyArray<Leftover> =>
  Fs.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(pid, "environ").split("\0").includes(`${variable}=${value}`))
    .map((pid) => ({ pid: Number(pid), command: read(pid, "cmdline").split("\0").join(" ").trim() }))
    .filter(({ command }) => command !== "")

export * as Leftovers from "./Leftovers.ts"
