/** A method at which a mood may change what the scripted agent does; the names are those of the wire. */
export type Point =
  | "initialize"
  | "authenticate"
  | "auth/login"
  | "session/new"
  | "session/load"
  | "session/resume"
  | "session/fork"
  | "session/list"
  | "session/close"
  | "session/delete"
  | "session/prompt"
  | "session/cancel"
  | "session/inject"
  | "session/set_config_option"
  | "session/set_mode"

/** What the agent can do. All are on unless a mood turns them off, but for `steering`, the v1 extension. */
export type Capability =
  | "image"
  | "audio"
  | "embeddedContext"
  | "load"
  | "list"
  | "resume"
  | "close"
  | "delete"
  | "fork"
  | "additionalDirectories"
  | "inject"
  | "steering"

/** A JSON-RPC error, sent as it is. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** One choice of a select option. */
export interface Choice {
  readonly value: string
  readonly name: string
}

/** A configuration option in the words of v1; v2 gets `configId` and `groupId` in place of `id` and `group`. */
export interface ConfigOption {
  readonly id: string
  readonly name?: string
  readonly category?: string
  readonly type?: "select" | "boolean"
  readonly currentValue: string | boolean
  readonly options?: ReadonlyArray<Choice> | ReadonlyArray<{ group: string; name: string; options: ReadonlyArray<Choice> }>
}

/** The option sets that a permission request may offer by name. */
export type PermissionPreset = "usual" | "once" | "always" | "reject-only" | "empty" | "unknown"

/** A request for permission; the turn waits for the answer, and says `permission: <option id>` or `permission: cancelled`. */
export interface PermissionStep {
  readonly options?: PermissionPreset | ReadonlyArray<{ optionId: string; name: string; kind: string }>
  readonly title?: string
  /** v1 `toolCall`, v2 `subject.toolCall`. */
  readonly toolCall?: Readonly<Record<string, unknown>>
  /** Goes on without waiting for the answer. */
  readonly forget?: boolean
}

/** A request for input; says `elicitation: <action>`. */
export interface ElicitStep {
  readonly mode?: "form" | "url"
  readonly message?: string
  readonly url?: string
  readonly requestedSchema?: unknown
}

/** A sleeping process below the agent. Its pid is appended as one line to `pidFile`. */
export interface GrandchildStep {
  /** Leaves the agent's process group and session. */
  readonly leaves?: boolean
  /** Ignores TERM, INT and HUP. */
  readonly stubborn?: boolean
  /** Inherits stdout and stderr, so that the agent's pipes stay open after its end; `stderr` inherits that one alone. */
  readonly holdsPipes?: boolean | "stderr"
  /** Prints a line on stdout for ever. */
  readonly babbles?: boolean
  readonly pidFile?: string
}

/** One thing the agent does. Exactly one key is set; the keys in the second half misbehave. */
export type Step =
  /** Agent text, as one chunk or as `chunks` equal pieces. */
  | { readonly say: string; readonly chunks?: number; readonly messageId?: string }
  | { readonly think: string }
  /** A content block as an agent chunk. */
  | { readonly block: unknown; readonly messageId?: string }
  /** A whole message (v2 only): `content` is set as it is, `null` and absent included. */
  | { readonly message: { readonly messageId: string; readonly content?: unknown; readonly role?: "agent" | "user" } }
  /** v1 `tool_call`, v2 `tool_call_update`. */
  | { readonly tool: Readonly<Record<string, unknown>> }
  | { readonly toolUpdate: Readonly<Record<string, unknown>> }
  | { readonly toolChunk: { readonly toolCallId: string; readonly content: unknown } }
  | { readonly plan: ReadonlyArray<unknown>; readonly planId?: string }
  | { readonly usage: Readonly<Record<string, unknown>> }
  | { readonly title: string | null }
  | { readonly commands: ReadonlyArray<unknown> }
  /** Replaces the session's options and publishes the snapshot. */
  | { readonly options: ReadonlyArray<ConfigOption> }
  | { readonly mode: string }
  | { readonly notice: Readonly<Record<string, unknown>> }
  | { readonly compaction: Readonly<Record<string, unknown>> }
  | { readonly compactionSummary: Readonly<Record<string, unknown>> }
  | { readonly terminal: Readonly<Record<string, unknown>> }
  | { readonly terminalChunk: { readonly terminalId: string; readonly data: string } }
  /** A v2 `state_update`. */
  | { readonly state: string; readonly stopReason?: string | null; readonly error?: unknown }
  /** An update sent as it is; `session` stands in for the session of the turn. */
  | { readonly update: unknown; readonly session?: string }
  | { readonly permission: PermissionStep | PermissionPreset }
  | { readonly elicit: ElicitStep | "form" | "url" }
  /** Any request to the client; says `answer: <compact JSON of result or error>`. */
  | { readonly request: { readonly method: string; readonly params?: unknown } }
  | { readonly notify: { readonly method: string; readonly params?: unknown } }
  /** Says the texts of all earlier prompts of the session as compact JSON. */
  | { readonly recall: true }
  /** Says `cwd`, additional directories and MCP servers of the session as compact JSON. */
  | { readonly where: true }
  /** Says the value of a variable of the environment, `unset` if there is none. */
  | { readonly env: string }
  /** Says the content of a file, relative to the session's cwd. */
  | { readonly read: string }
  /** Writes `text` to a file, relative to the session's cwd. */
  | { readonly write: string; readonly text?: string }
  /** Says the number of lines of a file, relative to the session's cwd. */
  | { readonly countLines: string }
  /** Waits; a cancelled turn wakes up. */
  | { readonly wait: number }
  /** Waits until the file exists. */
  | { readonly gate: string }
  /** Creates an empty file: the agent has come this far. */
  | { readonly touch: string }
  /** Waits until the turn is cancelled. */
  | { readonly awaitCancel: true }
  /** Waits for the next steering message and says `steered: <text>`. */
  | { readonly awaitInject: true }
  /** Repeats steps. */
  | { readonly repeat: number; readonly steps: ReadonlyArray<Step> }
  /** Writes everything the steps send in one write. */
  | { readonly together: ReadonlyArray<Step> }
  /** Steps that a cancel cannot stop. */
  | { readonly deafly: ReadonlyArray<Step> }
  /** Runs only where the session speaks this version. */
  | { readonly only: 1 | 2; readonly steps: ReadonlyArray<Step> }
  /** Ends the turn with this stop reason; `null` leaves it out. */
  | { readonly stop: string | null; readonly error?: unknown; readonly usage?: unknown }
  /** Ends the turn with an error. */
  | { readonly fail: RpcError }
  /** Ends the turn with this result, as it is. */
  | { readonly answer: unknown }
  /** Ends the turn without ever answering. */
  | { readonly mute: true }
  /** `n` text chunks of `bytes` characters (default 16), in large writes that wait for the reader. */
  | { readonly flood: number; readonly bytes?: number }
  /** One line on stdout that is no frame. */
  | { readonly line: string }
  /** Bytes on stdout as they are, without a line feed. */
  | { readonly raw: string }
  | { readonly base64: string }
  /** A frame whose text holds a byte that is not UTF-8. */
  | { readonly badUtf8: true }
  /** A valid update whose line is at least this many bytes long. */
  | { readonly longLine: number }
  | { readonly stderr: string; readonly times?: number }
  | { readonly grandchild: GrandchildStep }
  /** Leaves at once; what was written before is flushed unless `abrupt`. */
  | { readonly exit: number; readonly abrupt?: boolean }
  /** Kills itself with a signal. */
  | { readonly signal: NodeJS.Signals }
  /** Closes stdout and lives on. */
  | { readonly closeOutput: true }
  /** Stops reading stdin and lives on. */
  | { readonly stopReading: true }

/** What happens at one method. */
export interface Behaviour {
  /** Only at the n-th call, counted from 1. */
  readonly call?: number
  /** Before the answer; a session that the call creates exists already. */
  readonly before?: ReadonlyArray<Step>
  /** Never answers. */
  readonly silent?: boolean
  readonly error?: RpcError
  /** In place of the ordinary result. */
  readonly result?: unknown
  /** Fields laid over the ordinary result. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** The ordinary work is not done (nothing is created, closed, deleted), only the answer is given. */
  readonly idle?: boolean
  readonly after?: ReadonlyArray<Step>
}

/** How v2 turns run; the defaults are those of the SDK's revision. */
export interface V2Revision {
  /** What `session/prompt` is answered with. Default `messageId`. */
  readonly answer?: "messageId" | "empty" | "null"
  /** `first`: before any update of the turn (default). `running`: after the running state. `last`: after idle. */
  readonly order?: "first" | "running" | "last"
  /** Reports `running` first. Default true. */
  readonly running?: boolean
  /** How often idle is reported. Default 1. */
  readonly idle?: number
  /** Echoes the user's message. Default true. */
  readonly echo?: boolean
  /** Leaves `messageId` out of everything but the answer. */
  readonly noMessageIds?: boolean
  /** Leaves the stop reason of a normal end out. */
  readonly noStopReason?: boolean
}

/** How the agent behaves. The empty mood is a well-behaved agent of both versions with every capability. */
export interface Mood {
  /** `null` leaves it out. */
  readonly info?: { readonly name: string; readonly version: string } | null
  /** The versions it speaks. Default both. */
  readonly versions?: ReadonlyArray<number>
  /** What a version outside of `versions` is answered with: its own latest (default), an error, an error and the end, or a number. */
  readonly otherVersion?: "latest" | "refuse" | "refuse-and-exit" | { readonly answer: number }
  readonly capabilities?: Partial<Readonly<Record<Capability, boolean>>>
  /** In place of the whole capability object. */
  readonly rawCapabilities?: unknown
  readonly authMethods?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly type?: string }>
  /** Answers these methods with -32000, for ever or until the file exists or a login came. */
  readonly auth?: {
    readonly at: ReadonlyArray<Point>
    readonly until?: string
    readonly message?: string
    readonly data?: unknown
    /** Exits with this code after the answer. */
    readonly exit?: number
  }
  readonly options?: ReadonlyArray<ConfigOption>
  /** Setting `id` to `value` replaces the list by this one. */
  readonly optionEffects?: ReadonlyArray<{
    readonly id: string
    readonly value: string | boolean
    readonly options: ReadonlyArray<ConfigOption>
  }>
  readonly on?: Partial<Readonly<Record<Point, Behaviour | ReadonlyArray<Behaviour>>>>
  /** Before stdin is read for the first time. */
  readonly start?: ReadonlyArray<Step>
  /** At the end of input, before the agent leaves. */
  readonly eof?: ReadonlyArray<Step>
  /** The answer to a prompt that brings no script and matches no rule. Default: `echo: <text>`. */
  readonly reply?: ReadonlyArray<Step>
  /** Rules by the text of the prompt (a regular expression); the first that matches answers. */
  readonly replies?: ReadonlyArray<{ readonly match: string; readonly script: ReadonlyArray<Step> }>
  /** What it does not hear. Signals too. */
  readonly deaf?: ReadonlyArray<"cancel" | "cancel_request" | "eof" | "SIGTERM" | "SIGINT" | "SIGHUP">
  /** How a cancelled turn ends. */
  readonly cancelled?: {
    readonly before?: ReadonlyArray<Step>
    readonly stop?: string | null
    readonly error?: RpcError
    /** Withdraws its own open requests with `$/cancel_request` in place of waiting for their answers. */
    readonly withdraw?: boolean
  }
  /** A prompt while another runs: waits (default), fails, ends the first, or is never answered. */
  readonly busy?: "queue" | "reject" | "cancel-first" | "mute"
  /** Holds everything of a turn back and writes it at once, with the answer. */
  readonly coalesce?: boolean
  readonly v2?: V2Revision
  /** v1 chunks carry a `messageId`. Default false. */
  readonly v1MessageIds?: boolean
  /** Ids of its own requests. Default numbers from 0. */
  readonly requestIds?: "number" | "uuid"
  /** The ids of the first sessions; later ones are random. */
  readonly sessionIds?: ReadonlyArray<string>
  /** What load and resume of an unknown id say. Default an error -32002; `empty` succeeds with an empty session. */
  readonly unknownSession?: "empty" | RpcError
  /** What load and resume replay. Default the history. `fork: true` replays on fork too, before its answer. */
  readonly replay?: { readonly none?: boolean; readonly steps?: ReadonlyArray<Step>; readonly fork?: boolean }
}

/** The script that a prompt may bring: as the text `{"script":[…]}`, or in the `_meta.script` of any block. */
export interface Script {
  readonly script: ReadonlyArray<Step>
}
