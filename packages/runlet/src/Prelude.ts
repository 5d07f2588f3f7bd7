import type { Intrinsic } from "./Registry.ts"

/** The functions that every program can call, pure and with schema version `stdlib/1`. */
export const prelude: ReadonlyArray<Intrinsic> = []
