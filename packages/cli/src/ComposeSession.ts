import { Host } from "@acp-kit/platform/Host"
import { SessionStore } from "@acp-kit/store/SessionStore"
import { remarkable } from "@acp-kit/store/Warning"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import { Directories } from "./Directories.ts"
import { Footer } from "./Footer.ts"
import { printable } from "./Printable.ts"
import { Store } from "./Store.ts"
import { Terminal } from "./Terminal.ts"

/** What the call says of the session. */
export interface Asked {
  /** An existing session to go on with. */
  readonly id: string | undefined
  readonly root: string | undefined
  readonly addDirs: ReadonlyArray<string>
  /** A file's name, for a new session. */
  readonly title: string | undefined
}

/** A session that is open for writing, and where its agents work. */
export interface Opened {
  readonly session: SessionStore.SessionWriter
  /** Absolute: `--root`, else the session's own directory, else the current one. */
  readonly root: string
  /** Absolute: the session's own, then those of `--add-dir`. */
  readonly additionalDirectories: ReadonlyArray<string>
}

/** Says on stderr what opening the session found that is not as it was left. */
const warn = Effect.fnUntraced(function* (session: SessionStore.SessionWriter) {
  const terminal = yield* Terminal.Service
  for (const { path, message } of remarkable(session.warnings)) yield* terminal.err(`kit: ${printable(`${path}: ${message}`)}\n`)
})

/** Opens the session that the call names, or makes one; the scope holds its lock. `persistent` puts its id on the last line of stderr. */
export const open = Effect.fnUntraced(function* (asked: Asked, persistent: boolean) {
  const store = yield* SessionStore.Service
  const host = yield* Host.Service
  const footer = yield* Footer.Service
  const path = yield* Path.Path
  const added = yield* Effect.forEach(asked.addDirs, Directories.additional)
  const announce = (session: SessionStore.SessionWriter) => (persistent ? footer.set(`session: ${session.id}`) : Effect.void)
  if (asked.id !== undefined) {
    const session = yield* Store.tried(store.openWriter(asked.id))
    yield* announce(session)
    yield* warn(session)
    const info = yield* Store.tried(session.info)
    const root = yield* Directories.working(asked.root ?? info.cwd)
    const opened: Opened = { session, root, additionalDirectories: [...new Set([...info.additional_directories, ...added])] }
    return opened
  }
  const root = yield* Directories.working(asked.root ?? host.cwd)
  const title = asked.title === undefined ? {} : { title: path.basename(asked.title).slice(0, 100) }
  const session = yield* Store.tried(store.create({ cwd: root, additionalDirectories: added, ...title }))
  yield* announce(session)
  const opened: Opened = { session, root, additionalDirectories: added }
  return opened
})

export * as ComposeSession from "./ComposeSession.ts"
