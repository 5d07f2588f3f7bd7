import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { asJson } from "./Calls.ts"
import { advertisedMethodIds, type Capabilities, readCapabilities } from "./Capabilities.ts"
import type { Connection } from "./Connection.ts"
import { isJsonObject, type Json, type JsonObject } from "./Json.ts"
import { Methods } from "./Methods.ts"
import { CapabilityMissing, type ConnectError, MalformedResult, UnsupportedVersion, VersionRejected } from "./ProtocolError.ts"

/** What was agreed. */
export interface Negotiated {
  readonly capabilities: Capabilities
  readonly authMethodIds: ReadonlyArray<string>
  /** The raw answer. */
  readonly initialized: JsonObject
}

const speaksV2 = (initialized: JsonObject): boolean => isJsonObject(initialized.capabilities) || isJsonObject(initialized.info)

/**
 * Reads the version out of an `initialize` answer, by number and shape (R1): an agent that echoes 2 but answers in the shape of
 * version 1 speaks 1. Any other number is refused (S110).
 */
export const readInitialized = (
  answer: Json,
): Result.Result<Negotiated, UnsupportedVersion | MalformedResult | CapabilityMissing> => {
  if (!isJsonObject(answer)) return Result.fail(new MalformedResult({ method: "initialize", why: "no object" }))
  const got = answer.protocolVersion
  if (got === undefined) return Result.fail(new MalformedResult({ method: "initialize", why: "no protocolVersion" }))
  if (got !== 1 && got !== 2) return Result.fail(new UnsupportedVersion({ got }))
  const version = got === 2 && speaksV2(answer) && !isJsonObject(answer.agentCapabilities) ? 2 : 1
  const capabilities = readCapabilities(version, answer)
  if (version === 2 && !capabilities.load) return Result.fail(new CapabilityMissing({ capability: "session" }))
  return Result.succeed({ capabilities, authMethodIds: advertisedMethodIds(answer), initialized: answer })
}

/**
 * Agrees on a version. Version 2 is offered in one request that both generations understand; an agent that rejects it is asked again
 * with version 1 while it lives (decision 10).
 */
export const negotiate = (
  connection: Connection,
  info: { readonly name: string; readonly version: string },
  offer: 1 | 2,
): Effect.Effect<Negotiated, ConnectError> => {
  const initialize = (version: 1 | 2) =>
    connection.call({ method: "initialize", params: Methods.initialize(info, version), accept: asJson })
  const asked =
    offer === 1
      ? initialize(1)
      : Effect.catchTag(initialize(2), "RpcError", (rejected) =>
          Effect.catchTag(initialize(1), "TransportClosed", (closed) =>
            Effect.fail(new VersionRejected({ code: rejected.code, closed })),
          ),
        )
  return Effect.flatMap(asked, (answer) => Effect.fromResult(readInitialized(answer)))
}
