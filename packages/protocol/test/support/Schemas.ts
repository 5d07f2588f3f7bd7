import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Options } from "@acp-kit/protocol/AgentClient"
import type { JsonObject } from "@acp-kit/protocol/Json"
import type { WireFrame } from "@acp-kit/protocol/WireFrame"
import { type Schema, Validator } from "@cfworker/json-schema"
import * as Effect from "effect/Effect"

type Version = 1 | 2

interface Definition {
  readonly "x-method"?: string
}

const require = createRequire(import.meta.url)

const load = (version: Version): { readonly $defs: Readonly<Record<string, Definition>> } =>
  JSON.parse(readFileSync(require.resolve(`@agentclientprotocol/sdk/schema/v${version}/schema.unstable.json`), "utf8"))

/** What the SDK's schemas do not know: the proposal that Kit steers by. */
const outside = new Set(["session/inject"])

const schemas = new Map<string, Validator>()

const validator = (version: Version, method: string, ending: "Request" | "Response" | "Notification"): Validator | undefined => {
  const key = `${version} ${method} ${ending}`
  const known = schemas.get(key)
  if (known !== undefined) return known
  const { $defs } = load(version)
  const name = Object.keys($defs).find((at) => $defs[at]?.["x-method"] === method && at.endsWith(ending))
  if (name === undefined) return undefined
  const made = new Validator({ $ref: `#/$defs/${name}`, $defs } as unknown as Schema, "2020-12")
  schemas.set(key, made)
  return made
}

const problemOf = (frame: WireFrame, version: Version): string | undefined => {
  const message = frame.message as JsonObject
  const method = frame.method as string
  if (outside.has(method) || (frame.kind === "response" && message.error !== undefined)) return undefined
  const ending = frame.kind === "request" ? "Request" : frame.kind === "response" ? "Response" : "Notification"
  const schema = validator(version, method, ending)
  if (schema === undefined) return `no schema for ${ending} ${method} of version ${version}`
  const plain = JSON.parse(frame.line)
  const { errors, valid } = schema.validate(ending === "Response" ? plain.result : plain.params)
  return valid
    ? undefined
    : `${frame.line}: ${errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`).join("; ")}`
}

/** Checks every outgoing frame against the SDK's schemas; `initialize` that offers 2 against those of both versions. */
export const schemaWatch = (
  version: () => Version,
): { readonly observe: NonNullable<Options["observe"]>; readonly problems: Array<string>; readonly seen: Set<string> } => {
  const problems: Array<string> = []
  const seen = new Set<string>()
  return {
    problems,
    seen,
    observe: (frames) =>
      Effect.sync(() => {
        for (const frame of frames) {
          if (frame.direction !== "out") continue
          seen.add(`${frame.kind} ${frame.method}`)
          const params = (frame.message as JsonObject).params as JsonObject
          const versions: ReadonlyArray<Version> =
            frame.method === "initialize" ? (params.protocolVersion === 2 ? [1, 2] : [1]) : [version()]
          for (const each of versions) {
            const problem = problemOf(frame, each)
            if (problem !== undefined) problems.push(problem)
          }
        }
      }),
  }
}
