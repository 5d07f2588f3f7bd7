/** Rounds of one measured thing, in the unit of its measure. */
export interface Sample {
  readonly name: string
  readonly values: ReadonlyArray<number>
}

/** What a benchmark measured. The first sample is the floor that the others are compared with. */
export interface Measure {
  readonly title: string
  /** Of the numbers, `ms` or `MiB` say. */
  readonly unit: string
  readonly samples: ReadonlyArray<Sample>
}

/** The value below which `share` of the values lie; `share` is between 0 and 1. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Measures several things in turns, so that what else the machine does falls on all of them. */
export const interleaved = async (
  rounds: number,
  things: Readonly<Record<string, () => number | Promise<number>>>,
): Promise<ReadonlyArray<Sample>> => {
  const values = new Map<string, Array<number>>(Object.keys(things).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(things)) values.get(name)?.push(await measure())
  }
  return [...values].map(([name, all]) => ({ name, values: all }))
}

/** A Markdown table of a measure: 20th percentile, median, and the factor over the floor. */
export const table = (measure: Measure): string => {
  const floor = quantile(measure.samples[0]?.values ?? [], 0.5)
  const rows = measure.samples.map(({ name, values }) => {
    const median = quantile(values, 0.5)
    return `| ${name} | ${quantile(values, 0.2).toFixed(1)} | ${median.toFixed(1)} | ${(median / floor).toFixed(1)} |`
  })
  return [
    `### ${measure.title}`,
    "",
    `| ${measure.unit} | p20 | median | × floor |`,
    "| --- | ---: | ---: | ---: |",
    ...rows,
  ].join("\n")
}
