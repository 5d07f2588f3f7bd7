import { columnsOf } from "./Printable.ts"

/** Rows of cells as aligned lines, two spaces between columns, no space at the end of a line. */
export const columns = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths: Array<number> = []
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, columnsOf(cell))
  return rows.map((row) =>
    row
      .map((cell, index) => cell + " ".repeat(widths[index]! - columnsOf(cell)))
      .join("  ")
      .trimEnd(),
  )
}
