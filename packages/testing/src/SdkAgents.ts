import { type Launch, launchScript } from "./ScriptedAgent.ts"

/** Agents that are built on the official SDK. What they do with a prompt stands in `sdk-agent/AppV1.ts`. */
export const v1: Launch = launchScript("sdk-agent-v1.ts")

/** Refuses v1 with -32022. */
export const v2: Launch = launchScript("sdk-agent-v2.ts")

/** Both versions, by the SDK's router. */
export const router: Launch = launchScript("sdk-agent-router.ts")

/**
 * The example agent of SDK 0.12, which nobody here wrote: v1, no capabilities, about six seconds a turn; reads a file without asking, then asks
 * for permission (`allow` of kind `allow_once`) to change one.
 */
export const example: Launch = launchScript("sdk-agent-0.12.ts")

export * as SdkAgents from "./SdkAgents.ts"
