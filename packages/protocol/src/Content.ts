import * as Data from "effect/Data"

/** The prompt cannot be sent to this agent as it is; nothing was sent (S05). `index` is the block's place, from 0. */
export class ContentRefused extends Data.TaggedError("ContentRefused")<{
  readonly reason: "empty" | "image" | "embeddedContext" | "type" | "shape"
  readonly index: number | undefined
  readonly message: string
}> {}
