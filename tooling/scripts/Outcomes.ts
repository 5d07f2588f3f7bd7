import type { Tally } from "./TestReport.ts"

/** Runs named checks one after the other and counts them; a check fails by throwing. */
export interface Outcomes {
  readonly check: (name: string, body: () => unknown) => Promise<boolean>
  /** Counts a check that this machine cannot run, and says why. */
  readonly skip: (name: string, why: string) => void
  readonly tally: () => Tally
}

export const outcomes = (group: string): Outcomes => {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  return {
    check: async (name, body) => {
      const started = performance.now()
      try {
        await body()
        counts.passed += 1
        console.log(`ok      ${group}: ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
        return true
      } catch (error) {
        counts.failed += 1
        console.log(`FAILED  ${group}: ${name}\n${error instanceof Error ? error.message : String(error)}`)
        return false
      }
    },
    skip: (name, why) => {
      counts.skipped += 1
      console.log(`skipped ${group}: ${name}: ${why}`)
    },
    tally: () => ({ name: group, ...counts }),
  }
}

/** Runs a command to its end and succeeds with what it printed on stdout; fails with all its output where it exits otherwise than 0 or takes longer than `seconds`. */
export const output = async (
  command: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string | undefined>>; readonly seconds?: number },
): Promise<string> => {
  const seconds = options.seconds ?? 600
  const child = Bun.spawn([...command], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: seconds * 1000,
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (exitCode === 0) return stdout
  const how = child.signalCode === null ? `exited with ${exitCode}` : `was ended by ${child.signalCode}, at most ${seconds} s in`
  throw new Error(`${command.join(" ")} ${how}\n${stdout}${stderr}`)
}

/** Throws where two texts differ. */
export const same = (actual: string, expected: string): void => {
  if (actual !== expected) throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
}
