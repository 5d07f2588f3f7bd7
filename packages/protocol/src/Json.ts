/** A JSON value whose integers are exact: those beyond 2^53 are bigints, on the wire they are plain digits. */
export type Json = null | boolean | number | bigint | string | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}
