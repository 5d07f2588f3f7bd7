#!/usr/bin/env bun
import { existsSync } from "node:fs"

const entry = process.argv[2] === "acp" ? "acp.js" : "kit.js"
const built = new URL(`../dist/${entry}`, import.meta.url)

if (!existsSync(built)) {
  const bundle = new URL("../../../tooling/scripts/bundle.ts", import.meta.url)
  if (!existsSync(bundle)) {
    process.stderr.write(`kit: ${built.pathname} is missing; install @acp-kit/kit again\n`)
    process.exit(70)
  }
  const { exitCode } = Bun.spawnSync([process.execPath, bundle.pathname], { stdio: ["ignore", "ignore", "inherit"] })
  if (exitCode !== 0) process.exit(70)
}

await import(built.href)
