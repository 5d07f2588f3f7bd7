import {
  admissions,
  type Event,
  keepsName,
  next,
  type State,
  shown,
  takesPlace,
  transitions,
} from "@acp-kit/orchestrator/Handles"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const states = Object.keys(transitions) as ReadonlyArray<State>
const events: ReadonlyArray<Event> = [
  "sent",
  "completed",
  "withdrawn",
  "failed",
  "reconnect",
  "attached",
  "unreachable",
  "reserved",
  "released",
  "closing",
  "kept",
  "gone",
]

describe("Handles", () => {
  it("leaves a retired handle retired, whatever happens", () => {
    for (const event of events) expect(next("retired", event, "idle")).toBeUndefined()
    for (const verb of ["steer", "close"] as const) expect(admissions[verb].retired).toBe("retired")
  })

  it("can retire every state but a detached one by failure, and every closable one by a tombstone", () => {
    for (const state of states) {
      const dies = next(state, "failed")
      expect(dies === "retired").toBe(state !== "detached" && state !== "retired")
      if (admissions.close[state] !== "go") continue
      expect(next(state, "closing")).toBe("closing")
      expect(next("closing", "gone", state)).toBe("retired")
      expect(next("closing", "kept", state)).toBe(state)
    }
  })

  it("shows, counts and names what lives, and nothing that is gone", () => {
    expect(shown.retired).toBeUndefined()
    expect(takesPlace.retired).toBe(false)
    expect(keepsName("retired")).toBe(false)
    for (const state of states.filter((state) => state !== "retired")) expect(keepsName(state)).toBe(true)
    for (const state of states.filter((state) => state !== "retired" && state !== "detached"))
      expect(takesPlace[state]).toBe(true)
  })

  it("lets a steer through while a turn works, and at no other time", () => {
    expect(states.filter((state) => admissions.steer[state] === "go")).toEqual(["working"])
  })

  it.prop(
    "reaches, from any start and in any order of events, only states that a verb knows how to meet",
    {
      start: Arbitrary.schema(Schema.Literals(["starting", "detached"])),
      path: Arbitrary.array(Arbitrary.schema(Schema.Literals(events as readonly [Event, ...Array<Event>])), { maxLength: 30 }),
    },
    ({ start, path }) => {
      let state: State = start
      let before: State | undefined
      for (const event of path) {
        const after = next(state, event, before)
        if (after === undefined) continue
        before = event === "closing" ? state : after === "closing" ? before : undefined
        state = after
        expect(states).toContain(state)
        expect(state === "closing").toBe(before !== undefined)
      }
    },
  )
})
