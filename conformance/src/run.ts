/**
 * Runs the suite against an agent.
 *
 *     bun --conditions=@acp-kit/source conformance/src/run.ts                                    Kit itself, both versions
 *     bun --conditions=@acp-kit/source conformance/src/run.ts --page                             and writes docs/reference/conformance.md
 *     bun --conditions=@acp-kit/source conformance/src/run.ts --version 2 --quick hi -- COMMAND… any agent
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Subject, Version } from "./Agent.ts"
import { kit } from "./Kit.ts"
import { Lab } from "./Lab.ts"
import { conforms, page } from "./Page.ts"
import { judge, type Verdict } from "./Rule.ts"
import { rulesOf } from "./Rules.ts"

const words = process.argv.slice(2)
const dashes = words.indexOf("--")
const command = dashes === -1 ? [] : words.slice(dashes + 1)
const flags = dashes === -1 ? words : words.slice(0, dashes)
const flag = (name: string): string | undefined => (flags.includes(name) ? flags[flags.indexOf(name) + 1] : undefined)

const run = async (subject: Subject): Promise<ReadonlyArray<Verdict>> => {
  const lab = new Lab(subject)
  const verdicts: Array<Verdict> = []
  try {
    for (const rule of rulesOf(subject.version)) {
      const verdict = await judge(rule, lab)
      verdicts.push(verdict)
      if (verdict.outcome === "missed")
        console.error(`v${subject.version} ${rule.id} (${rule.tier}) ${rule.title}: ${verdict.why}`)
    }
  } finally {
    await lab.end()
  }
  console.error(`version ${subject.version}: ${conforms(verdicts) ? "conforms" : "does not conform"}`)
  return verdicts
}

const other = (version: Version): Subject => {
  const [tool, slow] = [flag("--tool"), flag("--slow")]
  return {
    command: command as [string, ...Array<string>],
    version,
    cwd: process.cwd(),
    prompts: {
      quick: flag("--quick") ?? "Say hello.",
      ...(tool === undefined ? {} : { tool }),
      ...(slow === undefined ? {} : { slow }),
    },
  }
}

const results: Array<readonly [string, ReadonlyArray<Verdict>]> = []
if (command.length > 0) {
  for (const version of flag("--version") === undefined ? ([1, 2] as const) : ([flag("--version") === "1" ? 1 : 2] as const)) {
    results.push([`Version ${version}`, await run(other(version))])
  }
} else {
  for (const [name, version, batches] of [
    ["Version 1", 1, false],
    ["Version 2", 2, false],
    ["Version 2 with batches", 2, true],
  ] as const) {
    const { subject, remove } = kit(version, batches)
    results.push([name, await run(subject)])
    remove()
  }
}
if (flags.includes("--page")) {
  writeFileSync(
    fileURLToPath(new URL("../../docs/reference/conformance.md", import.meta.url)),
    page("Conformance of `kit acp`", results),
  )
}
process.exit(results.every(([, verdicts]) => conforms(verdicts)) ? 0 : 1)
