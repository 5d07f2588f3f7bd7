import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { ConfigOption, Mood } from "../Mood.ts"
import { type Fields, fields, text } from "./Value.ts"

/** One finished prompt and what was said to it. */
export interface Past {
  readonly messageId: string
  readonly prompt: ReadonlyArray<unknown>
  readonly answer: string
}

export interface Session {
  readonly id: string
  cwd: string
  additionalDirectories: ReadonlyArray<unknown>
  mcpServers: ReadonlyArray<unknown>
  options: ReadonlyArray<ConfigOption>
  title: string | null
  history: ReadonlyArray<Past>
}

/** The agent's sessions: in memory, and as one file each in the state directory if there is one. */
export class Sessions {
  readonly #mood: Mood
  readonly #directory: string | undefined
  readonly #open = new Map<string, Session>()
  readonly #ids: Array<string>

  constructor(mood: Mood, directory: string | undefined) {
    this.#mood = mood
    this.#directory = directory
    this.#ids = [...(mood.sessionIds ?? [])]
    if (directory !== undefined) Fs.mkdirSync(directory, { recursive: true })
  }

  create(params: Fields, from?: Session): Session {
    const session: Session = {
      id: this.#ids.shift() ?? Crypto.randomUUID(),
      cwd: "",
      additionalDirectories: [],
      mcpServers: [],
      options: from?.options ?? this.#mood.options ?? [],
      title: from?.title ?? null,
      history: from?.history ?? [],
    }
    this.place(session, params)
    return session
  }

  /** Takes over where the session runs, and keeps it. */
  place(session: Session, params: Fields): void {
    session.cwd = text(params.cwd) ?? session.cwd
    session.additionalDirectories = list(params.additionalDirectories)
    session.mcpServers = list(params.mcpServers)
    this.#open.set(session.id, session)
    this.save(session)
  }

  /** A session that is open. */
  get(id: unknown): Session | undefined {
    return this.#open.get(String(id))
  }

  /** A session that is open or was kept. */
  find(id: unknown): Session | undefined {
    return this.get(id) ?? this.#stored().find((session) => session.id === id)
  }

  empty(id: string): Session {
    return { id, cwd: "", additionalDirectories: [], mcpServers: [], options: this.#mood.options ?? [], title: null, history: [] }
  }

  all(): ReadonlyArray<Session> {
    const open = [...this.#open.values()]
    return [...open, ...this.#stored().filter((session) => !this.#open.has(session.id))]
  }

  close(id: string): void {
    this.#open.delete(id)
  }

  delete(id: string): void {
    this.#open.delete(id)
    if (this.#directory !== undefined) Fs.rmSync(this.#file(this.#directory, id), { force: true })
  }

  save(session: Session): void {
    if (this.#directory === undefined) return
    const file = this.#file(this.#directory, session.id)
    const temporary = `${file}.${process.pid}`
    Fs.writeFileSync(temporary, JSON.stringify(session))
    Fs.renameSync(temporary, file)
  }

  #file(directory: string, id: string): string {
    return Path.join(directory, `${encodeURIComponent(id)}.json`)
  }

  #stored(): ReadonlyArray<Session> {
    if (this.#directory === undefined) return []
    const directory = this.#directory
    return Fs.readdirSync(directory)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(Fs.readFileSync(Path.join(directory, name), "utf8")) as Session)
  }
}

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The texts of a prompt's text blocks, joined by line feeds. */
export const promptText = (prompt: ReadonlyArray<unknown>): string =>
  prompt
    .map(fields)
    .filter((block) => block.type === "text")
    .map((block) => text(block.text) ?? "")
    .join("\n")
