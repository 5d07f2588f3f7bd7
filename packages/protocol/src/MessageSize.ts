const mebibyte = 1024 * 1024

/** A number of bytes as messages print it: `32 MiB` where it is whole, else `1000 bytes`. */
export const printBytes = (bytes: number): string =>
  bytes >= mebibyte && bytes % mebibyte === 0 ? `${bytes / mebibyte} MiB` : `${bytes} bytes`

/** What is wrong with a message that is longer than `limit` bytes; `whose` sent it, or would have. */
export const tooLarge = (whose: string, limit: number): string => `${whose} is larger than ${printBytes(limit)}`

export * as MessageSize from "./MessageSize.ts"
