/**
 * The life of a handle, as tables.
 *
 * `starting` the first start is under way, its first turn not yet sent · `working` in a turn · `idle` between turns, attached to a session ·
 * `detached` between turns, restored, no process · `reconnecting` its process starts again · `fork-reserved` a branch is being made of it ·
 * `closing` its tombstone is being written · `retired` never usable again.
 */
export type State = "starting" | "reconnecting" | "working" | "idle" | "detached" | "fork-reserved" | "closing" | "retired"

/**
 * What moves a handle.
 *
 * `sent` a prompt is about to go out · `completed` its turn succeeded · `withdrawn` nothing of it was dispatched (decision 6) ·
 * `failed` creation failed, a dispatched turn failed, or the process died · `reconnect` / `attached` / `unreachable` the restart of a restored child ·
 * `reserved` / `released` a fork of it begins and ends · `closing` close was called · `kept` the tombstone could not be written · `gone` it is on disk.
 */
export type Event =
  | "sent"
  | "completed"
  | "withdrawn"
  | "failed"
  | "reconnect"
  | "attached"
  | "unreachable"
  | "reserved"
  | "released"
  | "closing"
  | "kept"
  | "gone"

/** Where each event leads; an event that a state does not list cannot happen there. `kept` leads back to where `closing` came from. */
export const transitions: Readonly<Record<State, Readonly<Partial<Record<Event, State>>>>> = {
  starting: { sent: "working", failed: "retired", closing: "closing" },
  working: { completed: "idle", withdrawn: "idle", failed: "retired", closing: "closing" },
  idle: { sent: "working", reserved: "fork-reserved", failed: "retired", closing: "closing" },
  detached: { reconnect: "reconnecting", closing: "closing" },
  reconnecting: { attached: "idle", unreachable: "detached", failed: "retired" },
  "fork-reserved": { released: "idle", failed: "retired", closing: "closing" },
  closing: { gone: "retired", failed: "retired" },
  retired: {},
}

/** How `subagents({})` and rosters show a state; `undefined` is left out of them (S23). */
export const shown: Readonly<Record<State, "starting" | "working" | "idle" | undefined>> = {
  starting: "starting",
  reconnecting: "starting",
  working: "working",
  idle: "idle",
  detached: "idle",
  "fork-reserved": "idle",
  closing: undefined,
  retired: undefined,
}

/** Whether a state takes one of the 120 places (S161): whatever has, or may get, a process; `detached` has none and takes its place again when it reconnects. */
export const takesPlace: Readonly<Record<State, boolean>> = {
  starting: true,
  reconnecting: true,
  working: true,
  idle: true,
  detached: false,
  "fork-reserved": true,
  closing: true,
  retired: false,
}

/** Whether the state keeps its name from others (S43). */
export const keepsName = (state: State): boolean => state !== "retired"

/**
 * What a verb does in a state: `go` at once · `wait` for the outcome of a close · a refusal otherwise. `prompt` and `fork` are not among them:
 * they wait their turn in front of the session's gate, first come, first served (S19).
 */
export type Admission = "go" | "wait" | "starting" | "not-working" | "reconnecting" | "retired"

export const admissions: Readonly<Record<"steer" | "close", Readonly<Record<State, Admission>>>> = {
  steer: {
    starting: "starting",
    reconnecting: "starting",
    working: "go",
    idle: "not-working",
    detached: "not-working",
    "fork-reserved": "not-working",
    closing: "retired",
    retired: "retired",
  },
  close: {
    starting: "go",
    reconnecting: "reconnecting",
    working: "go",
    idle: "go",
    detached: "go",
    "fork-reserved": "go",
    closing: "wait",
    retired: "retired",
  },
}

/** The state after an event, `undefined` where it cannot happen. `before` is the state that `closing` came from. */
export const next = (state: State, event: Event, before?: State): State | undefined =>
  state === "closing" && event === "kept" ? before : transitions[state][event]

export * as Handles from "./Handles.ts"
