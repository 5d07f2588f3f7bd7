const K = new Uint32Array(64)
const H0 = new Uint32Array(8)

const primes = function* () {
  for (let n = 2; ; n++) {
    let prime = true
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false
    if (prime) yield n
  }
}

const fraction = (root: number) => Math.floor((root - Math.floor(root)) * 0x1_0000_0000)

let filled = 0
for (const prime of primes()) {
  if (filled === 64) break
  if (filled < 8) H0[filled] = fraction(Math.sqrt(prime))
  K[filled++] = fraction(Math.cbrt(prime))
}

const rotate = (x: number, n: number) => (x >>> n) | (x << (32 - n))

/** SHA-256, synchronous and portable, as 32 bytes. */
export const sha256 = (data: Uint8Array): Uint8Array => {
  const length = (((data.length + 8) >> 6) + 1) << 6
  const padded = new Uint8Array(length)
  padded.set(data)
  padded[data.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(length - 8, Math.floor(data.length / 0x2000_0000))
  view.setUint32(length - 4, (data.length << 3) >>> 0)
  const hash = Uint32Array.from(H0)
  const w = new Uint32Array(64)
  for (let block = 0; block < length; block += 64) {
    for (let t = 0; t < 16; t++) w[t] = view.getUint32(block + t * 4)
    for (let t = 16; t < 64; t++) {
      const a = w[t - 15]!
      const b = w[t - 2]!
      const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)
      const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
      w[t] = (w[t - 16]! + s0 + w[t - 7]! + s1) | 0
    }
    let a = hash[0]!
    let b = hash[1]!
    let c = hash[2]!
    let d = hash[3]!
    let e = hash[4]!
    let f = hash[5]!
    let g = hash[6]!
    let h = hash[7]!
    for (let t = 0; t < 64; t++) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[t]! + w[t]!) | 0
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    hash[0] = (hash[0]! + a) | 0
    hash[1] = (hash[1]! + b) | 0
    hash[2] = (hash[2]! + c) | 0
    hash[3] = (hash[3]! + d) | 0
    hash[4] = (hash[4]! + e) | 0
    hash[5] = (hash[5]! + f) | 0
    hash[6] = (hash[6]! + g) | 0
    hash[7] = (hash[7]! + h) | 0
  }
  const out = new Uint8Array(32)
  const bytes = new DataView(out.buffer)
  hash.forEach((word, index) => {
    bytes.setUint32(index * 4, word)
  })
  return out
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
