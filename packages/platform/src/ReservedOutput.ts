const write = process.stdout.write.bind(process.stdout)

/** Writes to stdout even after {@link reserveOutput}. */
export const writeOutput: NodeJS.WriteStream["write"] = write

/**
 * From here on whatever prints, by `console` or by `process.stdout`, prints on stderr. For programs whose stdout is a protocol; this module
 * imports nothing, so that it can run before all others.
 */
export const reserveOutput = (): void => {
  process.stdout.write = process.stderr.write.bind(process.stderr)
  // biome-ignore lint/suspicious/noConsole: this is where console is told where to print
  const print = console.error.bind(console)
  for (const name of ["log", "info", "debug", "dir", "table", "trace"] as const) console[name] = print
}

export * as ReservedOutput from "./ReservedOutput.ts"
