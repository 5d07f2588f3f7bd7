import { Settlement } from "@acp-kit/protocol/Settlement"
import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

type Step = "write" | "answer" | "running" | "requires_action" | "idle" | "other" | "cancelled"

/** The place of the step that settles, -1 for none. */
const settlesAt = (steps: ReadonlyArray<Step>, cancelling = false): number => {
  const turn = new Settlement()
  turn.cancelling = cancelling
  for (const [at, step] of steps.entries()) {
    if (step === "write") turn.write()
    else if (step === "answer") {
      if (turn.answer()) return at
    } else if (turn.state(step === "cancelled" ? { state: "idle", stopReason: "cancelled" } : { state: step })) return at
  }
  return -1
}

describe("Settlement", () => {
  it("S111 settles at the idle after answer and running", () => {
    expect(settlesAt(["write", "answer", "running", "idle"])).toBe(3)
    expect(settlesAt(["write", "running", "answer", "idle"])).toBe(3)
    expect(settlesAt(["write", "requires_action", "answer", "running", "idle"])).toBe(4)
  })

  it("S111 settles at the answer where the idle came first, and at an idle without running after the answer", () => {
    expect(settlesAt(["write", "running", "idle", "answer"])).toBe(3)
    expect(settlesAt(["write", "answer", "idle"])).toBe(2)
  })

  it("S111 never counts idles from before the request, nor one before the answer that follows no work", () => {
    expect(settlesAt(["running", "idle", "write", "answer"])).toBe(-1)
    expect(settlesAt(["idle", "write", "idle", "answer"])).toBe(-1)
    expect(settlesAt(["running", "write", "idle", "answer"])).toBe(-1)
  })

  it("takes a repeated idle for nothing new and waits for the end of work that started again", () => {
    expect(settlesAt(["write", "running", "idle", "idle", "answer"])).toBe(4)
    expect(settlesAt(["write", "running", "idle", "running", "answer"])).toBe(-1)
    expect(settlesAt(["write", "running", "idle", "running", "answer", "idle"])).toBe(5)
  })

  it("passes over states that nobody knows", () => {
    expect(settlesAt(["write", "other", "answer", "other", "idle"])).toBe(4)
  })

  it("settles a cancelled turn at the idle that says so, answered or not", () => {
    expect(settlesAt(["write", "running", "cancelled"], true)).toBe(2)
    expect(settlesAt(["write", "running", "cancelled"], false)).toBe(-1)
    expect(settlesAt(["write", "cancelled"], true)).toBe(-1)
  })

  it.prop(
    "S111 settles once answered and idle, and not before, whatever the order",
    [Schema.Array(Schema.Literals(["answer", "running", "requires_action", "idle", "other"])).check(Schema.isMaxLength(10))],
    ([order]) => {
      const once = order.filter((step, at) => step !== "answer" || order.indexOf("answer") === at)
      const steps: ReadonlyArray<Step> = ["write", ...once]
      const at = settlesAt(steps)
      const before = steps.slice(0, at === -1 ? steps.length : at + 1)
      const answered = before.indexOf("answer")
      const idles = before.flatMap((step, place) => (step === "idle" ? [place] : []))
      const worked = (place: number) => before.slice(0, place).some((step) => step === "running" || step === "requires_action")
      const counts = idles.some((place) => worked(place) || (answered !== -1 && place > answered))
      const lastWork = Math.max(before.lastIndexOf("running"), before.lastIndexOf("requires_action"))
      const resting = idles.some((place) => place > lastWork)
      expect(at !== -1).toBe(answered !== -1 && counts && resting)
    },
    { arbitrary: { runs: 1_000 } },
  )
})
