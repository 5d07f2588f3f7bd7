import { columnsOf } from "@acp-kit/cli/Printable"
import { Progress } from "@acp-kit/cli/Progress"
import type { RosterEvent, RosterRow } from "@acp-kit/orchestrator/Subagents"
import { describe, expect, it } from "@effect/vitest"

const row = (more: Partial<RosterRow>): RosterRow => ({
  id: "s-1",
  name: "Scout",
  status: "starting",
  generation: 0,
  task: "count lines",
  activity: "",
  harness: "acp.kit",
  since: 0,
  ...more,
})

const changed = (more: Partial<RosterRow>): RosterEvent => ({ type: "changed", row: row(more) })

/** The lines of a run without a terminal; one event each 100 ms. */
const lines = (events: ReadonlyArray<RosterEvent>, columns = 100): ReadonlyArray<string> => {
  let progress = Progress.begin(0)
  return events.flatMap((event, index) => {
    const [next, notices] = Progress.step(progress, event, index * 100)
    progress = next
    return notices.map((notice) => Progress.noticeLine(notice, Progress.plain, columns))
  })
}

const after = (events: ReadonlyArray<RosterEvent>): Progress.Progress =>
  events.reduce((progress, event, index) => Progress.step(progress, event, index * 100)[0], Progress.begin(0))

describe("Progress", () => {
  it("prints a line for a child that starts, works, rests and ends", () => {
    expect(
      lines([
        changed({}),
        changed({ status: "working" }),
        changed({ status: "idle", generation: 1 }),
        { type: "removed", id: "s-1", name: "Scout", reason: "ended" },
      ]),
    ).toEqual([
      "  0.0s  Scout             starting  acp.kit",
      "  0.1s  Scout             working   count lines",
      "  0.2s  Scout             idle      generation 1, 0.1s",
      "  0.3s  Scout             ended     generation 1",
    ])
  })

  it("prints nothing for a new activity of the same turn, and a line for each further turn", () => {
    const events = [
      changed({ status: "working" }),
      changed({ status: "working", activity: "sh -c wc" }),
      changed({ status: "idle", generation: 1 }),
      changed({ status: "working", generation: 1, task: "again" }),
      changed({ status: "idle", generation: 2 }),
    ]
    expect(
      lines(events).map(
        (line) =>
          line
            .slice(8)
            .trim()
            .split(/\s{2,}/)[1],
      ),
    ).toEqual(["working", "idle", "working", "idle"])
  })

  it("says nothing of a child that was restored and left alone", () => {
    const restored = changed({ status: "idle", generation: 4 })
    expect(lines([restored, { type: "removed", id: "s-1", name: "Scout", reason: "ended" }])).toEqual([])
    expect(lines([restored, { type: "removed", id: "s-1", name: "Scout", reason: "closed" }])).toHaveLength(1)
    expect(lines([restored, changed({ status: "working", generation: 5 })])).toHaveLength(1)
  })

  it("tells why a child failed, and shows the log of a harness under its name", () => {
    expect(
      lines([
        { type: "log", harness: "demo", line: "warming up" },
        { type: "removed", id: "s-9", name: "Scout", reason: "failed", message: "nested agent refused the prompt" },
      ]),
    ).toEqual(["ACP harness demo: warming up", "  0.1s  Scout             failed    nested agent refused the prompt"])
  })

  it("neutralises what could move the cursor or change colours", () => {
    const [line] = lines([changed({ status: "working", task: "a\u001b[31mb\r\nc\u202ed" })])
    expect(line).toBe("  0.0s  Scout             working   a\ufffd[31mb c\ufffdd")
  })

  it("cuts a line at the width of the terminal, counting wide characters twice", () => {
    const [line] = lines([changed({ status: "working", name: "調査", task: "漢字".repeat(40) })], 60)
    expect(line).toBe(`  0.0s  調査              working   ${"漢字".repeat(5)}漢…`)
  })

  it("draws no line that is wider than the terminal, however narrow, and every one that fits as it is", () => {
    const row = { status: "working", name: "調査 a name", activity: "漢字 wc -l", usage: { used: 50, size: 200 } } as const
    const progress = after([changed(row), changed({ id: "s-2", status: "idle", generation: 3 }), changed({ id: "s-3" })])
    for (let columns = 1; columns <= 60; columns++) {
      const notices = lines([changed(row), changed({ status: "idle", generation: 1 })], columns)
      const block = Progress.block(progress, Progress.plain, columns, 2, 1_500)
      for (const line of [...notices, ...block]) expect(columnsOf(line), `${columns}: ${line}`).toBeLessThanOrEqual(columns)
    }
    expect(Progress.block(progress, Progress.plain, 30, 3, 1_500)[0]).toBe("● 調査 …  working     1.5s  2…")
  })

  it("leaves the details of a failure to whoever reports the failure", () => {
    const message = 'ACP harness spawn failure: ENOENT (harness="acp.x", source=configured ACP profile); verify its installation'
    const [line] = lines([{ type: "removed", id: "s-1", name: "Scout", reason: "failed", message }])
    expect(line).toBe("  0.0s  Scout             failed    ACP harness spawn failure: ENOENT")
  })

  it("draws one line for each live child with its activity, its time and its context usage", () => {
    const progress = after([
      changed({ status: "working", activity: "wc -l", usage: { used: 50, size: 200 } }),
      changed({ id: "s-2", name: "Reader", status: "idle", generation: 3 }),
    ])
    expect(Progress.block(progress, Progress.plain, 80, 10, 1_500)).toEqual([
      "● Scout             working     1.5s  25%  wc -l",
      "○ Reader            idle        1.4s  generation 3",
    ])
  })

  it("keeps within the rows of the terminal and says how many are left out", () => {
    const progress = after(
      Array.from({ length: 9 }, (_, index) =>
        changed({ id: `s-${index}`, name: `N${index}`, status: index < 6 ? "idle" : "working" }),
      ),
    )
    const block = Progress.block(progress, Progress.plain, 80, 4, 2_000)
    expect(block.map((line) => line.slice(0, 6).trim())).toEqual(["● N6", "● N7", "● N8", "and"])
    expect(block[3]).toBe("  and 6 more; 3 of 9 working")
  })

  it.each([
    [0, "0.0s"],
    [59_940, "59.9s"],
    [125_000, "2m05s"],
    [-5, "0.0s"],
  ])("writes %d ms as %s", (milliseconds, text) => {
    expect(Progress.elapsed(milliseconds)).toBe(text)
  })
})
