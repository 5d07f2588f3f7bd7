import { readFileSync } from "node:fs"
import { compileSchema, type Validator } from "@acp-kit/json-schema/JsonSchemas"
import * as Result from "effect/Result"

type Schema = { readonly [key: string]: unknown }

/** A message as it stood on the wire. */
export type Message = { readonly [key: string]: any }

const document = (version: 1 | 2): { readonly $defs: { readonly [name: string]: Schema } } =>
  JSON.parse(
    readFileSync(new URL(import.meta.resolve(`@agentclientprotocol/sdk/schema/v${version}/schema.unstable.json`)), "utf8"),
    (key, value) => (key === "description" && typeof value === "string" ? undefined : value),
  )

const definitions = { 1: document(1).$defs, 2: document(2).$defs }
const compiled = new Map<string, Validator>()

const validator = (version: 1 | 2, name: string): Validator => {
  const key = `${version}/${name}`
  const found = compiled.get(key) ?? Result.getOrThrow(compileSchema({ $ref: `#/$defs/${name}`, $defs: definitions[version] }))
  compiled.set(key, found)
  return found
}

const named = (version: 1 | 2, method: string, side: "agent" | "client", ending: string): string | undefined =>
  Object.entries(definitions[version]).find(
    ([name, schema]) => name.endsWith(ending) && schema["x-method"] === method && schema["x-side"] === side,
  )?.[0]

/** What is wrong with a result or a notification of the agent by the SDK's own JSON schema. Empty is good. */
export const violations = (version: 1 | 2, message: Message, method: string): ReadonlyArray<string> => {
  const isNotification = "method" in message
  const name = isNotification ? named(version, method, "client", "Notification") : named(version, method, "agent", "Response")
  if (name === undefined) return [`${method} is not in the schema of version ${version}`]
  const value = isNotification ? message.params : message.result
  return validator(version, name)
    .check(value)
    .map((violation) => `${method}${violation.path}: ${violation.keyword}: ${violation.message}`)
}
