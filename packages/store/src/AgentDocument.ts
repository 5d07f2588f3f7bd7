import * as Effect from "effect/Effect"
import type { AgentLaunchSpec } from "./AgentLaunchSpec.ts"
import type { AgentMeta } from "./AgentMeta.ts"
import * as Document from "./Document.ts"
import { isObject, type Json, type JsonObject } from "./Json.ts"
import * as Revision from "./Revision.ts"
import { Corrupt, of, type StoreError } from "./StoreError.ts"

/** The format of `meta.json`. */
export const format: Document.Format = { schema: "subagent.meta", version: 1 }

const { text, integer, object, list } = Revision

const optionalTexts = ["description", "harness", "model", "cwd"]

const isSource = (value: Json): boolean => isObject(value) && text(value.path) !== undefined && text(value.sha256) !== undefined

const spec = (value: JsonObject): AgentLaunchSpec => {
  const env: Record<string, string> = {}
  for (const [name, content] of Object.entries(object(value.env))) if (typeof content === "string") env[name] = content
  const { env: _env, secret_env: _secrets, ...rest } = value as { [key: string]: Json }
  for (const name of optionalTexts) if (rest[name] !== undefined && typeof rest[name] !== "string") delete rest[name]
  if (rest.definition !== undefined && !isSource(rest.definition)) delete rest.definition
  return {
    ...(rest as unknown as AgentLaunchSpec),
    name: text(value.name) ?? "",
    env,
    secret_env: list(value.secret_env).filter((name) => typeof name === "string"),
  }
}

/** What a `meta.json` says. Missing optional members get defaults, unknown ones are kept in the raw object; only ids must be there. */
export const viewOf = (path: string, raw: JsonObject): AgentMeta | StoreError => {
  if (raw.schema !== format.schema) return of(new Corrupt({ path, why: `it is no ${format.schema} document` }))
  const sessionId = text(raw.session_id)
  const agentId = text(raw.agent_id)
  if (sessionId === undefined || agentId === undefined) return of(new Corrupt({ path, why: "it names no session or no agent" }))
  const prompt = object(raw.prompt)
  const reason = text(raw.status_reason)
  return {
    schema: "subagent.meta",
    ...Revision.of(raw),
    session_id: sessionId,
    agent_id: agentId,
    spec: spec(object(raw.spec)),
    status: text(raw.status) ?? "interrupted",
    ...(reason === undefined ? {} : { status_reason: reason }),
    prompt: { bytes: integer(prompt.bytes, -1), sha256: text(prompt.sha256) ?? "" },
    migrated_from: list(raw.migrated_from).filter(isObject) as unknown as AgentMeta["migrated_from"],
    ext: object(raw.ext),
  }
}

/** {@link viewOf} as an effect. */
export const view = (path: string, raw: JsonObject): Effect.Effect<AgentMeta, StoreError> => {
  const meta = viewOf(path, raw)
  return Document.isStoreError(meta) ? Effect.fail(meta) : Effect.succeed(meta)
}

export interface Initial {
  readonly sessionId: string
  readonly agentId: string
  readonly spec: AgentLaunchSpec
  readonly promptBytes: number
  readonly promptSha256: string
  readonly now: number
}

/** The first `meta.json` of an agent. */
export const initial = (options: Initial): JsonObject =>
  Revision.first(
    format,
    {
      session_id: options.sessionId,
      agent_id: options.agentId,
      spec: options.spec as unknown as JsonObject,
      status: "starting",
      prompt: { bytes: options.promptBytes, sha256: options.promptSha256 },
      migrated_from: [],
      ext: {},
    },
    options.now,
  )

export * as AgentDocument from "./AgentDocument.ts"
