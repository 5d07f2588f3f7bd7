/** A text that may break: `line` is a space or a newline, `soft` nothing or a newline, as its group fits or not. */
export type Layout =
  | string
  | ReadonlyArray<Layout>
  | { readonly kind: "line" | "soft" | "hard" }
  | { readonly kind: "indent" | "group"; readonly content: Layout }

export const line: Layout = { kind: "line" }
export const soft: Layout = { kind: "soft" }
/** A newline in any case; the groups around it break. */
export const hard: Layout = { kind: "hard" }
export const indent = (...content: ReadonlyArray<Layout>): Layout => ({ kind: "indent", content })
export const group = (...content: ReadonlyArray<Layout>): Layout => ({ kind: "group", content })

export const join = (items: ReadonlyArray<Layout>, separator: Layout): Layout =>
  items.flatMap((item, at) => (at === 0 ? [item] : [separator, item]))

interface Item {
  readonly depth: number
  readonly flat: boolean
  readonly layout: Layout
}

const isList = (layout: Layout): layout is ReadonlyArray<Layout> => Array.isArray(layout)

/** Whether what is next, up to its first newline, fits into the rest of the line. */
const fits = (first: Item, rest: ReadonlyArray<Item>, width: number): boolean => {
  let left = width
  let following = rest.length
  const open = [first]
  while (left >= 0) {
    const item = open.pop() ?? rest[--following]
    if (item === undefined) return true
    const { depth, flat, layout } = item
    if (typeof layout === "string") left -= layout.length
    else if (isList(layout)) for (let at = layout.length - 1; at >= 0; at--) open.push({ depth, flat, layout: layout[at]! })
    else if (layout.kind === "indent" || layout.kind === "group") open.push({ depth, flat, layout: layout.content })
    else if (layout.kind === "hard") return !flat
    else if (!flat) return true
    else if (layout.kind === "line") left--
  }
  return false
}

/** The text of a layout within a width, two spaces to a level. */
export const print = (layout: Layout, width: number): string => {
  const out: Array<string> = []
  const open: Array<Item> = [{ depth: 0, flat: false, layout }]
  let column = 0
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { depth, flat, layout: next } = item
    if (typeof next === "string") {
      out.push(next)
      column += next.length
    } else if (isList(next)) for (let at = next.length - 1; at >= 0; at--) open.push({ depth, flat, layout: next[at]! })
    else if (next.kind === "indent") open.push({ depth: depth + 1, flat, layout: next.content })
    else if (next.kind === "group") {
      const whole = { depth, flat: true, layout: next.content }
      open.push(flat || fits(whole, open, width - column) ? whole : { ...whole, flat: false })
    } else if (flat && next.kind !== "hard") {
      if (next.kind === "line") out.push(" ")
      column += next.kind === "line" ? 1 : 0
    } else {
      out.push("\n", "  ".repeat(depth))
      column = depth * 2
    }
  }
  return out.join("").replace(/[ \t]+$/gm, "")
}
