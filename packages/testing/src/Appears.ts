import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"

/** Bun swallows an event that repeats the one before within a few milliseconds, so the last change may come without one. */
const pulseMs = 25

/**
 * Waits until a look at the file system finds something, looking again whenever an entry of the directory changes. Looks once before it waits;
 * the directory must exist.
 */
export const until = <A>(directory: string, look: () => A | undefined): Effect.Effect<A> =>
  Effect.callback<A>((resume) => {
    let over = false
    const watcher = Fs.watch(directory, () => check())
    const stop = () => {
      over = true
      clearInterval(pulse)
      watcher.close()
    }
    const check = () => {
      const found = over ? undefined : look()
      if (found === undefined) return
      stop()
      resume(Effect.succeed(found))
    }
    const pulse = setInterval(() => check(), pulseMs)
    check()
    return Effect.sync(stop)
  })

/** Waits until a file exists, however it comes to be. */
export const appears = (file: string): Effect.Effect<void> =>
  Effect.asVoid(until(Path.dirname(file), () => (Fs.existsSync(file) ? true : undefined)))

/** Creates an empty file: opens a gate. */
export const touch = (file: string): Effect.Effect<void> => Effect.sync(() => Fs.writeFileSync(file, ""))

export * as Appears from "./Appears.ts"
