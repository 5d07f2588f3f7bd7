import { columns } from "@acp-kit/cli/Columns"
import { Store } from "@acp-kit/cli/Store"
import { NotFound, of } from "@acp-kit/store/StoreError"
import { expect, it } from "vitest"

it("a table cannot move the cursor, whatever stands in its cells, and stays aligned", () => {
  expect(
    columns([
      ["\u001b[31mred\u202e", "x"],
      ["a\nb", "y"],
      ["ééééé", "z"],
    ]),
  ).toEqual(["\ufffd[31mred\ufffd  x", "a b        y", "ééééé      z"])
})

it("a failure of the store shows no control characters of an id, and gives it whole as JSON", () => {
  const { text, error } = Store.storeFailed(of(new NotFound({ what: "session", id: "\u001b[31m" })))
  expect(text).toContain('session "\ufffd[31m" does not exist')
  expect(error.message).toContain("\u001b[31m")
})
