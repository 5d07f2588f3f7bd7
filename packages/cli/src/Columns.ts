import { columnsOf, printable } from "./Printable.ts"

/** Rows of cells as aligned lines, two spaces between columns, no space at the end of a line. What cannot be shown of a cell is replaced. */
export const columns = (cells: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const rows = cells.map((row) => row.map(printable))
  const widths: Array<number> = []
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, columnsOf(cell))
  return rows.map((row) =>
    row
      .map((cell, index) => cell + " ".repeat(widths[index]! - columnsOf(cell)))
      .join("  ")
      .trimEnd(),
  )
}
