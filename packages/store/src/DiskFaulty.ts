import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Call, DiskError, type File, Service } from "./Disk.ts"

/** What happens at one call. `short` writes only so many bytes before it fails. */
export type Fault = { readonly code: string; readonly short?: number } | { readonly die: true }

/** One call that a plan is asked about; `index` counts from 0. */
export interface Attempt {
  readonly index: number
  readonly call: Call
  readonly path: string
}

/** The process is gone: nothing after it happens. */
export class Died {
  readonly _tag = "Died"
}

/**
 * A disk over another that fails where `plan` says. Every call of the inner disk is asked about once, in order, before it is made; `die` ends the fiber there
 * with the defect {@link Died}, and every later call too, as if the process had been killed.
 */
export const layerWith = (plan: (attempt: Attempt) => Fault | undefined): Layer.Layer<Service, never, Service> =>
  Layer.effect(
    Service,
    Effect.map(Service, (inner) => {
      let index = 0
      let dead = false
      const guard = <A>(
        call: Call,
        path: string,
        real: Effect.Effect<A, DiskError>,
        partly?: (bytes: number) => Effect.Effect<unknown, DiskError>,
      ): Effect.Effect<A, DiskError> =>
        Effect.suspend(() => {
          if (dead) return Effect.die(new Died())
          const fault = plan({ index: index++, call, path })
          if (fault === undefined) return real
          if ("die" in fault) {
            dead = true
            return Effect.die(new Died())
          }
          const failure = Effect.fail(new DiskError({ call, path, code: fault.code }))
          return fault.short === undefined || partly === undefined ? failure : Effect.andThen(partly(fault.short), failure)
        })
      const onFile =
        <A, B extends ReadonlyArray<never> | ReadonlyArray<unknown>>(
          call: Call,
          real: (file: File, ...rest: B) => Effect.Effect<A, DiskError>,
        ) =>
        (file: File, ...rest: B) =>
          guard(call, file.path, real(file, ...rest))
      const onPath =
        <A, B extends ReadonlyArray<unknown>>(call: Call, real: (path: string, ...rest: B) => Effect.Effect<A, DiskError>) =>
        (path: string, ...rest: B) =>
          guard(call, path, real(path, ...rest))
      return {
        openExclusive: onPath("openExclusive", inner.openExclusive),
        openAppend: onPath("openAppend", inner.openAppend),
        openRead: onPath("openRead", inner.openRead),
        read: onFile("read", inner.read),
        write: (file, bytes) =>
          guard("write", file.path, inner.write(file, bytes), (count) => inner.write(file, bytes.subarray(0, count))),
        size: onFile("size", inner.size),
        truncate: onFile("truncate", inner.truncate),
        sync: onFile("sync", inner.sync),
        close: inner.close,
        syncDirectory: onPath("syncDirectory", inner.syncDirectory),
        stat: onPath("stat", inner.stat),
        list: onPath("list", inner.list),
        directories: onPath("list", inner.directories),
        readFile: onPath("readFile", inner.readFile),
        readFiles: (paths) =>
          Effect.forEach(paths, (path) =>
            Effect.match(guard("readFile", path, inner.readFile(path)), {
              onFailure: (error) => error,
              onSuccess: (bytes) => bytes,
            }),
          ),
        makeDirectory: onPath("makeDirectory", inner.makeDirectory),
        rename: onPath("rename", inner.rename),
        unlink: onPath("unlink", inner.unlink),
        removeTree: onPath("removeTree", inner.removeTree),
        chmod: onPath("chmod", inner.chmod),
      }
    }),
  )

export * as DiskFaulty from "./DiskFaulty.ts"
