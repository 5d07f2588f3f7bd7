/** What is used here of the runtimes' own globals. */
interface Runtimes {
  readonly Bun?: { readonly main: string }
  readonly Deno?: { readonly build: { readonly standalone?: boolean } }
}

const compiled = (main: string): boolean => main.startsWith("/$bunfs/") || main.startsWith("B:/~BUN/")

/**
 * The argv prefix that starts this program again in the same runtime, from source, from a bundle, or compiled. Options of the runtime are
 * kept on Bun and Node; Deno does not tell them.
 */
export const selfCommand = (): readonly [string, ...ReadonlyArray<string>] => {
  const { Bun, Deno } = globalThis as Runtimes
  const script = process.argv[1] ?? ""
  if (Bun !== undefined && compiled(Bun.main)) return [process.execPath]
  if (Deno !== undefined) {
    return Deno.build.standalone === true ? [process.execPath] : [process.execPath, "run", "-A", "--no-lock", script]
  }
  return [process.execPath, ...process.execArgv, script]
}

export * as SelfCommand from "./SelfCommand.ts"
