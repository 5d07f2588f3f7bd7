import type { Json } from "@acp-kit/runlet/Host"
import { SessionStore, type SessionWriter } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import { gather } from "@acp-kit/store/Transcript"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import { type AgentSession, AgentSessionMaker, type SessionEvent } from "./AgentSession.ts"
import { Arrival } from "./Arrivals.ts"
import { Background, type BackgroundCalls } from "./BackgroundCalls.ts"
import type { Directories, SetupRefused } from "./Directories.ts"
import { Histories, type History } from "./History.ts"
import type { Item } from "./Item.ts"
import type { Interface as Provider } from "./ModelProvider.ts"
import { type Selection, SessionOptions } from "./SessionOptions.ts"
import type { Limits, Tool } from "./TurnLoop.ts"

/** What a session is about when its tools are made. */
export interface SessionContext {
  readonly writer: SessionWriter
  readonly cwd: string
  readonly additionalDirectories: ReadonlyArray<string>
  /** What is chosen now. */
  readonly selection: Ref.Ref<Selection>
  /** Where calls go on that a turn does not wait for. */
  readonly background: BackgroundCalls
  /** Where what its tools tell goes, in order and awaited. */
  readonly view: (event: SessionEvent) => Effect.Effect<void>
}

/** What all sessions of a process have in common. */
export interface Settings {
  readonly provider: Provider
  /** What new sessions start with. */
  readonly selection: Selection
  /** The system prompt, empty for none. */
  readonly system: string
  readonly limits: Limits
  readonly origin: "top_level" | "subagent"
  /** A turn ends only when what it started in the background has ended, and a cancel ends that too. */
  readonly structured: boolean
  /** The one working directory that sessions may have; any where absent. */
  readonly root?: string | undefined
  /** The id of the first session, which may exist already; later ones get ids of their own. */
  readonly first?: { readonly id: string; readonly resume: boolean } | undefined
  /** The tools of one session; the scope is the session's life. */
  readonly tools: (context: SessionContext) => Effect.Effect<ReadonlyArray<Tool>, SetupRefused, Scope.Scope>
}

/** What a new session begins with: an id of the store's choice and no items where they are absent. */
export interface Beginning {
  readonly id?: string | undefined
  readonly items?: ReadonlyArray<Item>
}

/** A session of the store that is open for writing, and its conversation. */
export interface Opened {
  readonly writer: SessionWriter
  readonly history: History
}

/** A new session in the store, beginning with these items. */
export const create = Effect.fnUntraced(function* (
  settings: Settings,
  { cwd, additional }: Directories,
  { id, items = [] }: Beginning,
): Effect.fn.Return<Opened, StoreError, SessionStore.Service | Scope.Scope> {
  const store = yield* SessionStore.Service
  const writer = yield* store.create({
    cwd,
    additionalDirectories: additional,
    origin: settings.origin,
    ...(id === undefined ? {} : { id }),
  })
  const records = items as unknown as ReadonlyArray<Json>
  if (records.length > 0) yield* writer.appendReplacement(records)
  return { writer, history: yield* Histories.stored(writer, records) }
})

/** A session of the store, opened for writing. */
export const existing = Effect.fnUntraced(function* (id: string) {
  const { take, items } = gather()
  const writer = yield* Effect.flatMap(SessionStore.Service, (store) => store.openWriter(id, take))
  return { writer, history: yield* Histories.stored(writer, items()) }
})

/** The session over what was opened: its choices, its tools, its turns. */
export const assemble = Effect.fnUntraced(function* (
  settings: Settings,
  { cwd, additional }: Directories,
  { writer, history }: Opened,
  view: (event: SessionEvent) => Effect.Effect<void>,
): Effect.fn.Return<AgentSession, SetupRefused, Scope.Scope> {
  const { provider, system, limits, structured } = settings
  const selection = yield* Ref.make(yield* selectionOf(settings, history.items()))
  const arrivals = Arrival.make()
  let session: AgentSession | undefined
  const background = yield* Background.make((result) =>
    Effect.suspend(() => {
      arrivals.deliver(result)
      return structured || session === undefined ? Effect.void : session.wake
    }),
  )
  const tools = yield* settings.tools({ writer, cwd, additionalDirectories: additional, selection, background, view })
  const rename = (title: string) => Effect.ignore(writer.rename(title))
  const parts = { history, provider, selection, system, tools, limits, arrivals, background, structured, rename, view }
  session = yield* AgentSessionMaker.make({ id: writer.id, cwd, additionalDirectories: additional, ...parts })
  return session
})

/** What was chosen last in the session, where it can still be chosen. */
const selectionOf = ({ provider, selection }: Settings, items: ReadonlyArray<Item>): Effect.Effect<Selection> => {
  const last = items.findLast((item) => item.type === "selection")
  if (last === undefined) return Effect.succeed(selection)
  return SessionOptions.set(provider, selection, "model", last.model).pipe(
    Effect.orElseSucceed(() => selection),
    Effect.flatMap((chosen) =>
      Effect.orElseSucceed(SessionOptions.set(provider, chosen, "reasoning_effort", last.effort), () => chosen),
    ),
  )
}

export * as SessionParts from "./SessionParts.ts"
