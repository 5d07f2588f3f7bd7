import * as Fs from "node:fs"

/** `O_CLOEXEC` of Linux. */
const closedOnExec = 0o2000000

/**
 * Whether this process was started without stdout (1) or stderr (2). Bun opens /dev/null in its place, and nothing but a flag that no
 * descriptor keeps through a start tells the two apart; on other runtimes, and without `/proc`, nothing does, and the answer is `false`.
 */
export const isMissing = (descriptor: 1 | 2): boolean => {
  if (!("Bun" in globalThis)) return false
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(Fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0"
    return (Number.parseInt(flags, 8) & closedOnExec) !== 0
  } catch {
    return false
  }
}

/** Whether stdin (0) is a directory. */
export const isDirectory = (descriptor: 0): boolean => {
  try {
    return Fs.fstatSync(descriptor).isDirectory()
  } catch {
    return false
  }
}

export * as Descriptor from "./Descriptor.ts"
