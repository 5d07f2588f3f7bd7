/**
 * What a model has to know of the language to write programs in it, about 1,100 tokens. It names no tool: whoever carries it lists the
 * callable tools, their schemas and limits beside it.
 */
export const guide = `Runlet: a program is bindings and one final \`return\`. It can only compute and call the listed tools.

FORM
\`\`\`runlet
# a comment
files = ["a.ts", "b.ts"]
parts = for file in files {          # maps a list, items side by side
  skip if text.ends_with(file, ".md")   # drops the element
  size = text.length(file)
  return { file, size }              # { file } is { file: file }
}
total = fold sum = 0 for p in parts { return sum + p.size }   # one after the other
label = "big" if total > 100 else "small"
kind = if total == 0 { return "none" } else if total < 9 { return "few" } else { return "many" }
return { label, kind, first: parts[0].file, total }
\`\`\`
- A line is a statement: \`name = expression\`, \`_ = expression\` (run it, drop the value), \`assert(condition, "message")\`, and in loops \`skip\` or \`skip if condition\`. Nothing else may stand alone: bind every \`if\`, \`for\` and call to a name.
- Every block \`{ ... }\` ends with \`return\`. Names are bound once and never change; an inner block may reuse an outer name. No functions, no assignment, no while, no import.
- A line continues only after an operator, a comma, or inside ( ) or [ ]. Strings are "double quoted" with JSON escapes; join them with +: \`"n: " + 5\`. No templates.
- \`and or not\`, \`== != < <= > >= in + - * / %\`. \`x in list\`, \`"sub" in string\`, \`"key" in object\`. Put parentheses around a comparison inside another one, and after \`not\`: \`not (a == b)\`.
- Conditions must be true or false: write \`x != null\`, \`list.length(xs) > 0\`. A missing \`else\` gives null.
- \`list + list\` appends, \`object + object\` merges (right wins), \`{ [key]: value }\` computes a key. \`xs[-1]\` is the last item. Reading a missing key or index fails: test with \`in\` first. \`for e in object\` gives e.key and e.value.
- Integers are exact; \`/\` always gives a number with a fraction.

ORDER
- A binding runs when something needs it. Tool calls with effects always run, also unused ones; those bound to different names run AT THE SAME TIME unless one uses the other's value. So bind independent calls to separate names; inside one expression (\`[a(), b()]\`) effects run in turn.
- To order calls without passing a value: \`done = after first { return second_call() }\`; \`after [a, b] { ... }\` waits for both.
- What stands below an \`assert\` or \`skip\` waits for it. Only the chosen branch runs.
- \`for\` runs items side by side; use \`fold\` when each step needs the one before.

FAILURE
\`\`\`runlet
result = boundary retry 2 {          # retries only failures that allow it
  data = json.parse("{\\"n\\": 1}")
  assert(data.n > 0, "n must be positive")
  return data.n
} catch e {
  return { error: e.code, message: e.message }
}
return result
\`\`\`
A failure stops its block and cancels what is still running beside it, unless a \`boundary\` catches it. Put the boundary inside a \`for\` to keep the other items. \`fail("CODE", "message", { detail: 1 })\` raises one; an effect bound outside a boundary is not caught by it.

FUNCTIONS
text: length lower upper trim starts_with(s,p) ends_with(s,p) slice(s,from,to?) split(s,sep) join(list,sep) replace(s,from,to)
regex (no lookaround): test(s,p) find_all(s,p) captures(s,p) -> {full, groups, names} or null, replace(s,p,"$1") split(s,p)
list: length sort sort_by(xs,"a.b","desc"?) slice(xs,from,to?) range(from,to,step?)
json: parse(s) encode(v) · number: round floor ceil parse(s) · time: parse("2024-01-31T00:00:00Z") -> ms, format(ms)
There is no filter, map, sum, contains, keys: use for, fold, in.

Return only what you need next; put all work that is already known into one program.`
