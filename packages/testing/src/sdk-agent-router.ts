#!/usr/bin/env bun
/** An agent built on the SDK that speaks both versions behind its router. */
import { agentProtocolRouter } from "@agentclientprotocol/sdk/experimental/v2/unstable"
import { appV1 } from "./sdk-agent/AppV1.ts"
import { appV2 } from "./sdk-agent/AppV2.ts"
import { serve } from "./sdk-agent/Serve.ts"

await serve(agentProtocolRouter().withV1(appV1()).withV2(appV2()))
