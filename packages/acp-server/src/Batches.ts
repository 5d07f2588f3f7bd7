import type { JsonObject } from "@acp-kit/protocol/Json"

/** What becomes of a JSON array: refused as one bad request, or taken as a JSON-RPC batch whose answers go out together. */
export type BatchPolicy = "reject" | "jsonrpc"

interface Batch {
  /** Answers that are still missing. */
  open: number
  readonly answers: Array<JsonObject>
}

/** The batches whose answers are being collected. Ids are those of the wire and unique among open requests. */
export class Batches {
  readonly #byId = new Map<unknown, Batch>()

  /** Starts a batch of requests with these ids; `answers` are there already. */
  open(ids: ReadonlyArray<unknown>, answers: ReadonlyArray<JsonObject>) {
    const batch: Batch = { open: ids.length, answers: [...answers] }
    for (const id of ids) this.#byId.set(id, batch)
  }

  /**
   * What goes out in place of an answer: itself where it belongs to no batch, nothing while others of its batch are missing, and all
   * together with the last.
   */
  collect(message: JsonObject): JsonObject | ReadonlyArray<JsonObject> | undefined {
    const batch = "method" in message ? undefined : this.#byId.get(message.id)
    if (batch === undefined) return message
    this.#byId.delete(message.id)
    batch.answers.push(message)
    batch.open -= 1
    return batch.open === 0 ? batch.answers : undefined
  }
}
