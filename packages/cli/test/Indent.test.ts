import { indent } from "@acp-kit/cli/Indent"
import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

describe("indent", () => {
  it("keeps on one line what fits", () => {
    expect(indent('{"a":[1,2,{}],"b":"x, {y}","c":[]}')).toBe('{ "a": [1, 2, {}], "b": "x, {y}", "c": [] }')
  })

  it("breaks what does not fit, outermost first", () => {
    expect(indent('{"alpha":[1,2,3],"beta":{"gamma":"delta","eps":12345678901234567890}}', 40)).toBe(
      ["{", '  "alpha": [1, 2, 3],', '  "beta": {', '    "gamma": "delta",', '    "eps": 12345678901234567890', "  }", "}"].join(
        "\n",
      ),
    )
  })

  it("leaves scalars and escapes as they are", () => {
    for (const json of ["null", "-1.5e300", "9007199254740993", '"a \\" \\\\ b"']) expect(indent(json)).toBe(json)
  })

  it.prop("means the same as the text it was given", [Schema.Json], ([value]) => {
    const text = JSON.stringify(value)
    expect(JSON.stringify(JSON.parse(indent(text, 20)))).toBe(text)
  })
})
