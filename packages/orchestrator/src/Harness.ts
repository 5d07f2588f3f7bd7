import * as Result from "effect/Result"
import type { HarnessTables, ProfileTable } from "./ConfigHarnesses.ts"
import { type HarnessReference, isReference, kit, malformed } from "./HarnessReference.ts"
import { ModelPolicy } from "./ModelPolicy.ts"
import { suggestion } from "./Nearest.ts"
import { SubagentError } from "./SubagentError.ts"

export type { HarnessReference } from "./HarnessReference.ts"

/** Where a launch line comes from, as launch errors say it. */
export type Source = "built-in current executable" | "configured acp.kit profile" | "configured ACP profile"

/** A harness that can be started. */
export interface Profile {
  readonly reference: HarnessReference
  /** The part behind `acp.`; stderr lines carry it. */
  readonly name: string
  /** An executable on PATH or an absolute path; never run through a shell. */
  readonly command: string
  /** For `acp.kit` the base arguments only (S92). */
  readonly args: ReadonlyArray<string>
  readonly source: Source
  /** Whether this is `acp.kit`, which gets Kit's own arguments and may be forked by copy. */
  readonly isKit: boolean
  readonly policy: ModelPolicy.Policy
}

/** All harnesses of a configuration, `acp.kit` first. */
export interface Harnesses {
  readonly profiles: ReadonlyArray<Profile>
  /** The reference of calls that name none. */
  readonly default: HarnessReference
}

/** The built-in base arguments: our own children speak v2, so that they can be steered (decision 11). */
const kitArgs = ["acp", "--protocol-version", "2"]

const kitProfile = (
  self: readonly [string, ...ReadonlyArray<string>],
  table: ProfileTable | undefined,
  policy: ModelPolicy.Policy,
): Profile => ({
  reference: kit,
  name: "kit",
  command: table?.command ?? self[0],
  args: [...(table?.command === undefined ? self.slice(1) : []), ...(table?.args ?? kitArgs)],
  source: table === undefined ? "built-in current executable" : "configured acp.kit profile",
  isKit: true,
  policy,
})

/** The harnesses of a configuration; `self` starts this very program again. */
export const fromTables = (tables: HarnessTables, self: readonly [string, ...ReadonlyArray<string>]): Harnesses => {
  const policyOf = (reference: HarnessReference) => tables.policies.get(reference) ?? ModelPolicy.none
  const override = tables.profiles.find((table) => table.reference === kit)
  const generic = tables.profiles.flatMap((table): ReadonlyArray<Profile> => {
    if (table.reference === kit || table.command === undefined) return []
    const { reference, command, args } = table
    const name = reference.slice("acp.".length)
    return [
      { reference, name, command, args: args ?? [], source: "configured ACP profile", isKit: false, policy: policyOf(reference) },
    ]
  })
  return { profiles: [kitProfile(self, override, policyOf(kit)), ...generic], default: tables.harness ?? kit }
}

/** The profile that a call asks for; nothing asked for is the default (S121, S122). */
export const resolve = (harnesses: Harnesses, asked: unknown): Result.Result<Profile, SubagentError> => {
  const wanted = asked === undefined ? harnesses.default : asked
  if (!isReference(wanted)) return Result.fail(malformed(wanted))
  const profile = harnesses.profiles.find((candidate) => candidate.reference === wanted)
  if (profile !== undefined) return Result.succeed(profile)
  const known = harnesses.profiles.map((candidate) => candidate.reference)
  return Result.fail(
    new SubagentError({
      code: "UNKNOWN_HARNESS",
      message: `unknown ACP harness ${JSON.stringify(wanted)}${suggestion(wanted, known)}`,
      retryable: false,
      details: { known },
    }),
  )
}

export * as Harness from "./Harness.ts"
