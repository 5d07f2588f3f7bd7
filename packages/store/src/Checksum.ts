// biome-ignore lint/correctness/noNodejsModules: the runtimes' own hash functions, an order of magnitude faster than ours would be
import { createHash } from "node:crypto"
// biome-ignore lint/correctness/noNodejsModules: as above
import { crc32 } from "node:zlib"

/** CRC-32 of the bytes: finds tears and rot, not malice. */
export const crc = (bytes: Uint8Array): number => crc32(bytes)

/** CRC-32 as eight lower-case hex digits. */
export const crcHex = (bytes: Uint8Array): string => crc32(bytes).toString(16).padStart(8, "0")

/** SHA-256 as lower-case hex. */
export const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex")

/** SHA-256 of what it is given piece by piece. */
export const sha256Stream = (): { readonly update: (bytes: Uint8Array) => void; readonly hex: () => string } => {
  const hash = createHash("sha256")
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest("hex") }
}
