#!/usr/bin/env bun
/** An agent built on the SDK that speaks v2 only. */
import { appV2 } from "./sdk-agent/AppV2.ts"
import { serve } from "./sdk-agent/Serve.ts"

await serve(appV2())
