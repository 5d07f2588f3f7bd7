import type { Json } from "@acp-kit/runlet/Host"

const isText = (block: Json): block is { readonly type: "text"; readonly text: string } =>
  typeof block === "object" &&
  block !== null &&
  "type" in block &&
  block.type === "text" &&
  "text" in block &&
  typeof block.text === "string"

/**
 * The task of a prompt, as rosters show it (S07, S23): its text blocks joined by a space, whitespace collapsed,
 * cut to `characters` with `…` as the last one, `Untitled task` where there is no text.
 */
export const summary = (prompt: Json, characters: number): string => {
  const texts =
    typeof prompt === "string" ? [prompt] : Array.isArray(prompt) ? prompt.filter(isText).map((block) => block.text) : []
  const line = texts.join(" ").replace(/\s+/gu, " ").trim()
  if (line === "") return "Untitled task"
  const letters = Array.from(line)
  return letters.length <= characters ? line : `${letters.slice(0, characters - 1).join("")}…`
}

export * as Task from "./Task.ts"
