#!/usr/bin/env bun
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const leave = (why) => {
  process.stderr.write(`kit: ${why}\n`)
  process.exit(70)
}

if (!("Bun" in globalThis)) {
  const self = fileURLToPath(import.meta.url)
  leave(
    `this runs on Bun, not on ${"Deno" in globalThis ? "Deno" : "Node"}: npx -y bun ${self} …; https://bun.sh installs it for good`,
  )
}

const asks = ["--help", "-h", "--version", "-V"]
const serves = process.argv[2] === "acp" && !process.argv.some((word) => asks.includes(word))
const built = new URL(`../dist/${serves ? "acp.js" : "kit.js"}`, import.meta.url)

if (!existsSync(built)) {
  const bundle = new URL("../../../tooling/scripts/bundle.ts", import.meta.url)
  if (!existsSync(bundle)) leave(`${fileURLToPath(built)} is missing; install @acp-kit/kit again`)
  const { exitCode } = Bun.spawnSync([process.execPath, fileURLToPath(bundle)], { stdio: ["ignore", "ignore", "inherit"] })
  if (exitCode !== 0) leave("it could not be built from this repository; npm start sets everything up")
}

await import(built.href)
