const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:\s]+/g

/**
 * Lays compact JSON out for people, two spaces a level: the tokens stay as they are, only white space is added.
 * Lists and objects that fit stay on one line of at most `columns` characters.
 */
export const indent = (json: string, columns = 100): string => {
  const tokens = json.match(token) ?? []
  let at = 0
  const flat = (from: number, room: number): { readonly text: string; readonly next: number } | undefined => {
    let text = ""
    let depth = 0
    for (let index = from; index < tokens.length; index++) {
      const part = tokens[index]!
      if (part === "{" || part === "[") depth++
      if (part === "}" || part === "]") depth--
      const closes = part === "}" && !text.endsWith("{") ? " }" : part
      text += part === "," ? ", " : part === ":" ? ": " : part === "{" && tokens[index + 1] !== "}" ? "{ " : closes
      if (text.length > room) return undefined
      if (depth === 0) return { text, next: index + 1 }
    }
    return undefined
  }
  const layOut = (level: number, used: number): string => {
    const short = flat(at, columns - used)
    const open = tokens[at]!
    if (short !== undefined || (open !== "{" && open !== "[")) {
      at = short?.next ?? at + 1
      return short?.text ?? open
    }
    const margin = "  ".repeat(level + 1)
    const lines: Array<string> = []
    at++
    while (tokens[at] !== "}" && tokens[at] !== "]" && at < tokens.length) {
      const key = tokens[at + 1] === ":" ? `${tokens[at]}: ` : ""
      if (key !== "") at += 2
      const value = layOut(level + 1, margin.length + key.length + 1)
      const comma = tokens[at] === "," ? "," : ""
      if (comma !== "") at++
      lines.push(`${margin}${key}${value}${comma}`)
    }
    return `${open}\n${lines.join("\n")}\n${"  ".repeat(level)}${tokens[at++] ?? ""}`
  }
  return layOut(0, 0)
}
