const aggregate = "write a `fold`, for example `total = fold acc = 0 for x in xs { return acc + x }`"
const grouping = "write a `fold` with computed keys, for example `fold acc = {} for x in xs { return acc + { [x.id]: x } }`"
const looping = "write a `for` with `skip if`, for example `kept = for x in xs { skip if x.done; return x }`"
const choosing = "write a conditional, for example `a if a < b else b`"
const iterating = "iterate the object: `for e in object { return e.key }`; each `e` has `key` and `value`"
const capturing = "use `regex.captures(s, pattern)`; `.full` is the whole match"
const padding = "join the parts with `+` and cut them with `text.slice`"
const guarding = "index with a membership guard: `object[key] if key in object else null`"

const hints: { readonly [name: string]: string } = {
  "text.contains": "write `needle in s`",
  "list.filter": looping,
  "list.map": looping,
  "list.group_by": grouping,
  "list.index_by": grouping,
  "object.from_entries": grouping,
  "object.get": guarding,
  "object.merge": "write `a + b`; the right side wins",
  "object.keys": iterating,
  "object.values": iterating,
  "object.entries": iterating,
  "regex.find": capturing,
  "regex.match": capturing,
  "time.now": "the time is a host input, not a function",
  "time.add": "times are Integer milliseconds: add and subtract them",
  "time.diff": "times are Integer milliseconds: add and subtract them",
  "number.format": padding,
  "text.format": padding,
  "text.pad": padding,
  "text.pad_start": padding,
}
for (const name of ["sum", "count", "min", "max", "unique", "flatten", "reverse", "compact"])
  Object.assign(hints, { [`list.${name}`]: aggregate })
for (const name of ["number.abs", "number.clamp", "number.min", "number.max", "math.min", "math.max"])
  Object.assign(hints, { [name]: choosing })

/** What to write instead of a function that other languages have. */
export const hintFor = (name: string): string | undefined =>
  Object.hasOwn(hints, name) ? hints[name] : name.endsWith(".get") ? guarding : undefined
