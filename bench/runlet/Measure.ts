/** One figure: what was measured, its median, the bound of the issue, and the ratio to the reference loop of the same run. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: "ms" | "us" | "ratio" | "MB"
  readonly bound: number
  readonly ratio?: number
}

const median = (samples: ReadonlyArray<number>): number => samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)]!

/** Median milliseconds of `work` over `rounds`, after `warm` rounds that do not count. */
export const time = async (work: () => unknown, rounds = 15, warm = 5): Promise<number> => {
  for (let round = 0; round < warm; round++) await work()
  const samples: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    await work()
    samples.push(performance.now() - start)
  }
  return median(samples)
}

/** A fixed amount of plain work: 300 000 additions into a map of 1 000 keys. Machines are compared by it. */
export const reference = (): number => {
  const map = new Map<string, number>()
  const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`)
  for (let step = 0; step < 300_000; step++) {
    const key = keys[step % 1_000]!
    map.set(key, (map.get(key) ?? 0) + step)
  }
  return map.get("k7")!
}

/** Prints figures, marking those over their bound, and returns how many are. */
export const report = (figures: ReadonlyArray<Figure>): number => {
  let over = 0
  for (const { bound, name, ratio, unit, value } of figures) {
    const met = value <= bound
    if (!met) over++
    const by = ratio === undefined ? "" : `  ${ratio.toFixed(3)} of the reference loop`
    console.log(`${met ? "ok  " : "OVER"} ${name}: ${value.toFixed(2)} ${unit} (bound ${bound})${by}`)
  }
  return over
}
