#!/usr/bin/env bun
/** An agent built on the SDK that speaks v1 only. */
import { appV1 } from "./sdk-agent/AppV1.ts"
import { serve } from "./sdk-agent/Serve.ts"

await serve(appV1())
