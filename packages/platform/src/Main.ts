import type { Writable } from "node:stream"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { LogToStderr } from "effect/References"
import { killLiving } from "./Sweep.ts"

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

/** The exit code of a program that broke: a defect, a stray throw, a stray rejection. */
export const broken = 70

/**
 * Begins to watch a stream; what it returns waits until the reader has taken everything, or never will. Bun answers an empty write too early,
 * and after an error the end of the stream not at all; on Node, to end the stream would end it for every process that shares it, wherever
 * it is a socket.
 */
const flushing = (stream: Writable): (() => Promise<void>) => {
  const broken = new Promise<void>((resolve) => {
    for (const event of ["error", "close"]) stream.on(event, () => resolve())
  })
  const flushed = () =>
    new Promise<void>((resolve) => {
      if (stream.destroyed || stream.writableEnded) resolve()
      else if ("Bun" in globalThis) stream.end(() => resolve())
      else stream.write("", () => resolve())
    })
  return () => Promise.race([broken, flushed()])
}

const codeOf = (exit: Exit.Exit<number>): number => {
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.hasInterruptsOnly(exit.cause)) return 128 + signals.SIGINT
  process.stderr.write(`kit: ${Cause.pretty(exit.cause)}\n`)
  return broken
}

/**
 * Runs a program as the process and leaves with the code it succeeds with, after its finalizers, when stdout and stderr have been taken
 * to the last byte. The first of INT, TERM and HUP interrupts it (exit 130, 143, 129). The second waits for nothing any more: it ends every
 * child process with KILL and leaves with the same code; a third leaves at once. QUIT does at once what the second does (exit 131). A defect, a stray throw or a stray rejection is printed on
 * stderr and exits 70; the latter two interrupt the program first. A stream that takes nothing any more is not waited for and is no failure.
 * What the program logs goes to stderr.
 */
export const run = (program: Effect.Effect<number>): void => {
  let forced: number | undefined
  let over = false
  setInterval(() => {}, 2 ** 31 - 1)
  const flushed = [process.stdout, process.stderr].map(flushing)

  const leave = async (code: number) => {
    over = true
    await Promise.all(flushed.map((wait) => wait()))
    process.exit(code)
  }

  let interruptProgram = () => {}
  const interrupt = (code: number) => {
    forced ??= code
    interruptProgram()
  }
  let hurried = false
  const hurry = (code: number) => {
    if (over || hurried) process.exit(code)
    hurried = true
    Effect.runFork(killLiving).addObserver(() => process.exit(code))
  }
  for (const [name, number] of Object.entries(signals)) {
    process.on(name, () => (over || forced !== undefined ? hurry(forced ?? 128 + number) : interrupt(128 + number)))
  }
  process.on("SIGQUIT", () => hurry(128 + 3))
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (cause: unknown) => {
      process.stderr.write(`kit: ${event}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`)
      interrupt(broken)
    })
  }

  const fiber = Effect.runFork(Effect.provideService(program, LogToStderr, true))
  interruptProgram = () => fiber.interruptUnsafe(fiber.id)
  fiber.addObserver((exit) => void leave(forced ?? codeOf(exit)))
}

export * as Main from "./Main.ts"
