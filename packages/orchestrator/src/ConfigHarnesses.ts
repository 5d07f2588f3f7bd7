import { dotted, type Findings, isTable, type Table } from "./ConfigTable.ts"
import { type HarnessReference, isName, isReference, kit, malformed } from "./HarnessReference.ts"
import type { ModelPolicy } from "./ModelPolicy.ts"
import { nearest } from "./Nearest.ts"

/** One `[acp.<name>]` table. `command` is absent only for `acp.kit`, whose own executable stands in; so are its `args`. */
export interface ProfileTable {
  readonly reference: HarnessReference
  readonly command?: string
  readonly args?: ReadonlyArray<string>
}

/** What `[acp]` and `[subagent]` say. */
export interface HarnessTables {
  readonly profiles: ReadonlyArray<ProfileTable>
  /** The harness of calls that name none; `acp.kit` where absent. */
  readonly harness?: HarnessReference
  readonly policies: ReadonlyMap<HarnessReference, ModelPolicy.Policy>
}

const profileKeys = ["command", "args", "permissions"]
const subagentKeys = ["harness", "harnesses"]
const policyKeys = ["allow_model_overrides", "config_options", "models"]

const holdsNul = (value: unknown): boolean => typeof value === "string" && value.includes("\0")

const readProfile = (found: Findings, name: string, value: unknown): ProfileTable | undefined => {
  const path = ["acp", name]
  if (!isName(name)) {
    found.error(path, "ACP harness names must be non-empty and contain neither whitespace nor dots")
    return undefined
  }
  if (/\p{Cc}/u.test(name)) {
    found.error(path, "ACP harness names must not contain control characters")
    return undefined
  }
  if (!isTable(value)) {
    found.error(path, "must be a table")
    return undefined
  }
  found.unknownKeys(value, path, profileKeys)
  found.oneOf(value, [...path, "permissions"], ["allow", "deny", "cancel"])
  const args = found.strings(value, [...path, "args"])
  const command = value.command
  const unpassable = Object.entries({ command, args }).find(([, given]) => [given].flat().some(holdsNul))
  if (unpassable !== undefined) {
    found.error([...path, unpassable[0]], "must not contain the character U+0000: no program can be given it")
    return undefined
  }
  const reference: HarnessReference = `acp.${name}`
  if (command === undefined && reference === kit) return { reference, ...(args === undefined ? {} : { args }) }
  if (typeof command === "string" && command.trim() !== "") {
    const relative = command.includes("/") && !command.startsWith("/")
    if (!relative) return { reference, command, ...(args === undefined ? {} : { args }) }
    const file = command.slice(command.lastIndexOf("/") + 1)
    const message = `ACP harness ${JSON.stringify(name)} has the relative command ${JSON.stringify(command)}: write ${file === "" ? "a name" : JSON.stringify(file)} and have it on PATH, or write its absolute path`
    found.error([...path, "command"], message)
    return undefined
  }
  if (command === undefined) {
    const { at, more } = found.misspelt(value, path, "command", profileKeys)
    found.error(at, `ACP harness ${JSON.stringify(name)} has no command`, more)
  } else if (typeof command === "string")
    found.error([...path, "command"], `ACP harness ${JSON.stringify(name)} has an empty command`)
  else found.error([...path, "command"], "must be a non-empty string")
  return undefined
}

const byBytes = (left: readonly [string, unknown], right: readonly [string, unknown]): number => {
  const a = new TextEncoder().encode(left[0])
  const b = new TextEncoder().encode(right[0])
  for (let at = 0; at < Math.min(a.length, b.length); at++) if (a[at] !== b[at]) return a[at]! - b[at]!
  return a.length - b.length
}

const readOptions = (found: Findings, harness: string, path: ReadonlyArray<string>, table: Table) => {
  const options: Array<readonly [string, string | boolean]> = []
  for (const [key, value] of Object.entries(table)) {
    if (key === "model")
      found.error([...path, key], "use the subagent model override and model policy instead of config_options.model")
    else if (key.trim() !== "" && (typeof value === "boolean" || (typeof value === "string" && value !== "")))
      options.push([key, value])
    else {
      const message = `subagent config option ${JSON.stringify(key)} for ${JSON.stringify(harness)} must have a non-empty key and a string or boolean value`
      found.error([...path, key], message)
    }
  }
  return options.sort(byBytes)
}

const readAliases = (
  found: Findings,
  harness: string,
  path: ReadonlyArray<string>,
  table: Table,
  allowed: ReadonlyArray<string> | undefined,
) => {
  const aliases = new Map<string, string>()
  const quoted = JSON.stringify(harness)
  for (const [alias, model] of Object.entries(table)) {
    const at = [...path, alias]
    if (alias.trim() === "") found.error(at, `subagent model aliases for ${quoted} must be non-empty`)
    else if (typeof model !== "string") found.error(at, "must be a string")
    else if (model.trim() === "")
      found.error(at, `subagent model alias ${JSON.stringify(alias)} for ${quoted} has an empty value`)
    else if (allowed !== undefined && !allowed.includes(model)) {
      const message = `subagent model alias ${JSON.stringify(alias)} resolves to ${JSON.stringify(model)}, which is not in allow_model_overrides for ${quoted}`
      const close = nearest(model, allowed)
      found.error(at, message, close === undefined ? {} : { nearest: close })
    } else aliases.set(alias, model)
  }
  return aliases
}

const readPolicy = (found: Findings, harness: string, value: unknown): ModelPolicy.Policy => {
  const path = ["subagent", "harnesses", harness]
  if (!isTable(value)) {
    found.error(path, "must be a table")
    return { aliases: new Map(), options: [] }
  }
  found.unknownKeys(value, path, policyKeys)
  const allowed = found.strings(value, [...path, "allow_model_overrides"])
  if (allowed?.some((model) => model.trim() === "")) {
    found.error(
      [...path, "allow_model_overrides"],
      `allow_model_overrides for ${JSON.stringify(harness)} must not contain empty values`,
    )
  }
  const options = found.table(value, [...path, "config_options"])
  const models = found.table(value, [...path, "models"])
  return {
    aliases: models === undefined ? new Map() : readAliases(found, harness, [...path, "models"], models, allowed),
    options: options === undefined ? [] : readOptions(found, harness, [...path, "config_options"], options),
    ...(allowed === undefined ? {} : { allowed }),
  }
}

const checkReference = (
  found: Findings,
  path: ReadonlyArray<string>,
  written: unknown,
  known: ReadonlyArray<string>,
  unknown: string,
): written is HarnessReference => {
  if (!isReference(written)) {
    const close = typeof written === "string" ? nearest(written, known) : undefined
    found.error(path, malformed(written).message, {
      code: "BAD_HARNESS_REFERENCE",
      ...(close === undefined ? {} : { nearest: close }),
    })
    return false
  }
  if (known.includes(written)) return true
  const close = nearest(written, known)
  found.error(path, `${unknown} ${JSON.stringify(written)}`, {
    code: "UNKNOWN_HARNESS",
    ...(close === undefined ? {} : { nearest: close }),
  })
  return false
}

/** Reads `[acp]` and `[subagent]`; what cannot be used is among the errors of `found` (S120 to S126). */
export const readHarnesses = (found: Findings, root: Table): HarnessTables => {
  const acp = found.table(root, ["acp"]) ?? {}
  const profiles = Object.entries(acp).flatMap(([name, value]) => readProfile(found, name, value) ?? [])
  const known = [...new Set<string>([kit, ...Object.keys(acp).map((name) => `acp.${name}`)])]
  const subagent = found.table(root, ["subagent"]) ?? {}
  found.unknownKeys(subagent, ["subagent"], subagentKeys)
  const policies = new Map<HarnessReference, ModelPolicy.Policy>()
  for (const [harness, value] of Object.entries(found.table(subagent, ["subagent", "harnesses"]) ?? {})) {
    const path = ["subagent", "harnesses", harness]
    if (checkReference(found, path, harness, known, "unknown subagent model policy harness"))
      policies.set(harness, readPolicy(found, harness, value))
  }
  const harness = subagent.harness
  const usable =
    harness === undefined || checkReference(found, ["subagent", "harness"], harness, known, "unknown subagent ACP harness")
  return { profiles, policies, ...(usable && isReference(harness) ? { harness } : {}) }
}

/** Where a harness is configured, as messages name it. */
export const keyOf = (reference: HarnessReference): string => dotted(reference.split("."))
