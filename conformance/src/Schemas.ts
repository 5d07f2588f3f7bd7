import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { compileSchema, type Validator } from "@acp-kit/json-schema/JsonSchemas"
import * as Result from "effect/Result"
import type { Message, Version } from "./Agent.ts"

type Schema = { readonly [key: string]: unknown }

const withoutProse = (key: string, value: unknown) => (key === "description" && typeof value === "string" ? undefined : value)

const document = (version: Version): { readonly $defs: { readonly [name: string]: Schema } } =>
  JSON.parse(
    readFileSync(fileURLToPath(import.meta.resolve(`@agentclientprotocol/sdk/schema/v${version}/schema.unstable.json`)), "utf8"),
    withoutProse,
  )

const definitions = { 1: document(1).$defs, 2: document(2).$defs }
const compiled = new Map<string, Validator>()

const validator = (version: Version, name: string): Validator => {
  const key = `${version}/${name}`
  const found = compiled.get(key) ?? Result.getOrThrow(compileSchema({ $ref: `#/$defs/${name}`, $defs: definitions[version] }))
  compiled.set(key, found)
  return found
}

const named = (version: Version, method: string, side: "agent" | "client", ending: string): string | undefined =>
  Object.entries(definitions[version]).find(
    ([name, schema]) => name.endsWith(ending) && schema["x-method"] === method && schema["x-side"] === side,
  )?.[0]

/** What is wrong with a message of the agent by the SDK's own JSON schema of this version. Empty is good. */
export const violations = (version: Version, message: Message, method: string): ReadonlyArray<string> => {
  const isAnswer = !("method" in message)
  const ending = isAnswer ? "Response" : "id" in message ? "Request" : "Notification"
  const name = named(version, method, isAnswer ? "agent" : "client", ending)
  if (name === undefined) return [`${method} is not in the schema of version ${version}`]
  return validator(version, name)
    .check(isAnswer ? message.result : message.params)
    .map((violation) => `${method}${violation.path}: ${violation.keyword}: ${violation.message}`)
}

/** Keys at the root of a value that its schema does not name. */
export const strangers = (version: Version, message: Message, method: string): ReadonlyArray<string> => {
  const isAnswer = !("method" in message)
  const ending = isAnswer ? "Response" : "id" in message ? "Request" : "Notification"
  const name = named(version, method, isAnswer ? "agent" : "client", ending)
  const known = name === undefined ? undefined : (definitions[version][name]?.properties as Schema | undefined)
  const value = isAnswer ? message.result : message.params
  if (known === undefined || typeof value !== "object" || value === null) return []
  return Object.keys(value).filter((key) => !(key in known))
}
