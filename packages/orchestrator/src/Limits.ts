import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/** Every deadline and limit of the orchestrator, in one value. Times are milliseconds, sizes UTF-8 bytes. */
export interface Interface {
  /** The whole start of a child: spawn, negotiation, session, model and options (S162). */
  readonly startupMs: number
  /** How long a buffered answer may still arrive after the process of a child has ended (S123), and its exit status after its output. */
  readonly drainMs: number
  /** The longest line that is taken from a child; some harnesses list their commands in half a megabyte. */
  readonly lineBytes: number
  /** Updates kept for one session before the answer that names it, the latest ones. */
  readonly earlyUpdates: number
  /** The same, serialized. */
  readonly earlyBytes: number
  /** Stray lines of stdout that a failed start shows. */
  readonly strayLines: number
  /** A native `session/fork` (S162). */
  readonly forkMs: number
  /** How long a child may take to settle a cancelled turn (S150). */
  readonly cancelMs: number
  /** The acknowledgement of `session/inject` (S33). */
  readonly steerMs: number
  /** The answer of `session/close` (S152). */
  readonly closeMs: number
  /** The answer of `session/delete`. */
  readonly deleteMs: number
  /** End of input, then this long until TERM. */
  readonly endOfInputMs: number
  /** TERM, then this long until KILL. */
  readonly termMs: number
  /** TERM, then this long until KILL, where a cancel has failed already. */
  readonly termAfterCancelMs: number
  /** Live children of one session (S161). */
  readonly liveChildren: number
  /** Nesting of sessions; a session at this depth starts none (S160). */
  readonly depth: number
  /** A display name (S40). */
  readonly nameBytes: number
  /** A task summary, in characters (S23). */
  readonly taskCharacters: number
  /** Captured updates per turn (S71). */
  readonly updateItems: number
  /** Captured updates per turn, serialized (S71). */
  readonly updateBytes: number
  /** How many times {@link updateItems} and {@link updateBytes} a turn may hold while it runs, before they are cut down to these. */
  readonly updateHeadroom: number
  /**
   * The text of a turn's answer, as compact JSON. It is recorded twice in one record, beside a prompt of at most {@link lineBytes}: all of it has to fit
   * into what the store takes.
   */
  readonly answerBytes: number
  /** Login methods that an `AUTH_REQUIRED` names, and the bytes of one id (S123). */
  readonly authMethods: number
  readonly authMethodBytes: number
  /** The end of stderr that a failed start shows. */
  readonly stderrTailBytes: number
  /** A line of a child's stderr as it is shown, in characters. */
  readonly logLineCharacters: number
  /** What is shown of one process's stderr and stray lines at once, in characters; 64 more count for each line. */
  readonly logBurst: number
  /** The same, a second, once {@link logBurst} is used up. */
  readonly logPerSecond: number
  /** The same, in all. */
  readonly logTotal: number
  /** stderr lines that wait for one slow reader of the roster; older ones are dropped. */
  readonly logLines: number
  /** Concurrent iterations of a Runlet loop (decision 20). */
  readonly loopConcurrency: number
  /** Concurrent calls of a Runlet run (decision 20). */
  readonly dispatch: number
  /** Host calls of one program that a model wrote; `kit compose` has no such limit (decision 20). */
  readonly modelCalls: number
}

export const defaults: Interface = {
  startupMs: 30_000,
  drainMs: 250,
  lineBytes: 32 * 1024 * 1024,
  earlyUpdates: 1_024,
  earlyBytes: 1024 * 1024,
  strayLines: 4,
  forkMs: 30_000,
  cancelMs: 5_000,
  steerMs: 5_000,
  closeMs: 5_000,
  deleteMs: 5_000,
  endOfInputMs: 2_000,
  termMs: 2_000,
  termAfterCancelMs: 500,
  liveChildren: 120,
  depth: 2,
  nameBytes: 32,
  taskCharacters: 96,
  updateItems: 64,
  updateBytes: 65_536,
  updateHeadroom: 4,
  answerBytes: 12 * 1024 * 1024,
  authMethods: 16,
  authMethodBytes: 128,
  stderrTailBytes: 8_192,
  logLineCharacters: 2_000,
  logBurst: 262_144,
  logPerSecond: 65_536,
  logTotal: 16 * 1024 * 1024,
  logLines: 1_000,
  loopConcurrency: 128,
  dispatch: 256,
  modelCalls: 128,
}

/** The limits in force: {@link defaults} unless a layer says otherwise. */
export const Service = Context.Reference<Interface>("@acp-kit/orchestrator/Limits", { defaultValue: () => defaults })

/** Some limits changed, the rest as they are by default. */
export const layerWith = (changed: Partial<Interface>): Layer.Layer<never> => Layer.succeed(Service, { ...defaults, ...changed })

/** A duration as messages print it: `30 seconds`, `0.3 seconds`. */
export const seconds = (milliseconds: number): string => `${milliseconds / 1000} seconds`

export * as Limits from "./Limits.ts"
