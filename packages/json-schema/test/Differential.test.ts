import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { compileSchema } from "../src/JsonSchemas.ts"
import { compileRegexp, GaveUp, PatternError } from "../src/Regexp.ts"

const CASES = process.env.KIT_TEST_LONG === "1" ? 10_000 : 1_500

/** The same numbers from the same seed. */
const dice = (seed: number) => {
  let state = (seed * 2_654_435_761 + 7) >>> 0
  const below = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % bound
  }
  return { below, pick: <A>(from: ReadonlyArray<A>) => from[below(from.length)]! }
}

type Dice = ReturnType<typeof dice>

const atoms = [
  "a",
  "b",
  "c",
  ".",
  "[ab]",
  "[^a]",
  "\\w",
  "\\d",
  "\\s",
  "[a-c]",
  "\\b",
  "^",
  "$",
  "é",
  "😀",
  "\\u{61}",
  "[\\w-]",
  "-",
  "\\B",
  "[^]",
]

/** Repeating what may be empty is where engines differ: ECMAScript alone refuses an empty round. */
const maybeEmpty = (atom: string) =>
  atom.startsWith("(") && emptyOn.some((each) => new RegExp(`(?:${atom})`, "uy").exec(each)?.[0] === "")

const emptyOn = ["", "a", "b", "1", " ", "-", "é", "\n"]

const pattern = (random: Dice, depth: number, look: boolean): string => {
  const parts = Array.from({ length: 1 + random.below(3) }, () => {
    const atom =
      depth > 0 && random.below(3) === 0
        ? `(${random.pick(look ? ["", "?:", "?=", "?!", "?<=", "?<!"] : ["", "?:"])}${pattern(random, depth - 1, look)})`
        : random.pick(atoms)
    const bare = /^(?:\\[bB]|[\^$]|\(\?<?[=!])/.test(atom) || maybeEmpty(atom)
    return bare ? atom : atom + random.pick(["", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "??"])
  })
  const sequence = parts.join("")
  return random.below(4) === 0 ? `${sequence}|${random.pick(atoms)}` : sequence
}

/** V8 finds `\B` inside a character beyond the basic plane; there these are left out. */
const wholePairs = /(?:\Bé?)|$/u.exec("b😀😀")?.index !== 2
const asNative = (subject: string) => (wholePairs ? subject : subject.replaceAll("😀", "é"))

const text = (random: Dice) =>
  Array.from({ length: random.below(8) }, () => random.pick(["a", "b", "c", "1", " ", "-", "é", "😀", "\n"])).join("")

describe("the engine against the runtime's own, on patterns both take", () => {
  it("finds the same first match", () => {
    let compared = 0
    for (let seed = 0; seed < CASES; seed++) {
      const random = dice(seed)
      const source = pattern(random, 2, false)
      const own = compileRegexp(source, "ecma")
      if (own instanceof PatternError) throw new Error(`${source}: ${own.message}`)
      const native = new RegExp(source, "u")
      for (let count = 0; count < 4; count++) {
        const subject = asNative(text(random))
        const found = own.first(subject)
        if (found instanceof GaveUp) throw found
        const expected = native.exec(subject)
        expect(found === undefined ? null : [found.start, found.text], `/${source}/ on ${JSON.stringify(subject)}`).toEqual(
          expected === null ? null : [expected.index, expected[0]],
        )
        compared++
      }
    }
    expect(compared).toBe(CASES * 4)
  })

  it("agrees with it on whether anything matches, look-around included", () => {
    for (let seed = 0; seed < CASES; seed++) {
      const random = dice(seed + 1_000_000)
      const source = pattern(random, 2, true)
      const own = compileRegexp(source, "ecma")
      if (own instanceof PatternError) throw new Error(`${source}: ${own.message}`)
      const native = new RegExp(source, "u")
      for (let count = 0; count < 4; count++) {
        const subject = asNative(text(random))
        expect(own.test(subject), `/${source}/ on ${JSON.stringify(subject)}`).toBe(native.test(subject))
      }
    }
  })
})

const keywords =
  "type enum const properties required items prefixItems anyOf allOf oneOf not if then else pattern format minimum maxLength uniqueItems additionalProperties patternProperties propertyNames contains $ref $defs $id $anchor dependentSchemas unevaluatedProperties minItems x".split(
    " ",
  )

const json = (random: Dice, depth: number): unknown => {
  const roll = random.below(depth > 0 ? 10 : 6)
  if (roll < 6)
    return random.pick([
      null,
      true,
      false,
      0,
      1.5,
      -1,
      "string",
      "integer",
      "object",
      "#",
      "#/$defs/a",
      "#a",
      "^a+$",
      "(",
      "date",
      "https://x.org/y",
      9007199254740993n,
    ])
  if (roll === 6) return Array.from({ length: random.below(4) }, () => json(random, depth - 1))
  return Object.fromEntries(
    Array.from({ length: random.below(5) }, () => [
      random.pick(roll === 7 ? ["a", "b", "__proto__", "constructor"] : keywords),
      json(random, depth - 1),
    ]),
  )
}

it("no schema and no value makes compiling or checking throw", () => {
  let accepted = 0
  for (let seed = 0; seed < CASES * 4; seed++) {
    const random = dice(seed)
    const compiled = compileSchema(json(random, 4))
    if (Result.isFailure(compiled)) {
      expect(compiled.failure.message.length).toBeGreaterThan(0)
      continue
    }
    accepted++
    for (let count = 0; count < 3; count++)
      for (const violation of compiled.success.check(json(random, 3))) expect(violation.message.length).toBeGreaterThan(0)
  }
  expect(accepted).toBeGreaterThan(50)
})
