import { Mark } from "@acp-kit/platform/Mark"
import * as Hash from "effect/Hash"

/** The mark that every process of a session's children carries, over restarts of Kit: by it what a killed Kit left behind is found. */
export const of = (home: string, session: string): string => `kit-session-${session}-${(Hash.string(home) >>> 0).toString(36)}`

/** The environment of a child with its session's mark on top of those it carries. */
export const on = (env: Readonly<Record<string, string>>, mark: string): Readonly<Record<string, string>> =>
  Mark.withMark(env, undefined, mark)

export * as SessionMark from "./SessionMark.ts"
