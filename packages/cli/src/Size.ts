const units = ["bytes", "kB", "MB", "GB", "TB"] as const

/** Bytes for people: `0 bytes`, `999 bytes`, `1.0 kB`, `12.3 MB`. */
export const size = (bytes: number): string => {
  let scaled = bytes
  let unit = 0
  while (scaled >= 999.95 && unit < units.length - 1) {
    scaled /= 1000
    unit++
  }
  return `${unit === 0 ? scaled : scaled.toFixed(1)} ${units[unit]}`
}
