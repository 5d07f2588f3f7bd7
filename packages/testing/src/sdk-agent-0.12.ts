#!/usr/bin/env bun
/** The example agent of SDK 0.12, as its authors published it. */
await import("acp-sdk-0.12/dist/examples/agent.js")
