import { isatty } from "node:tty"
import { Cli } from "@acp-kit/cli/Cli"
import { kit } from "@acp-kit/cli/Kit"
import { Terminal } from "@acp-kit/cli/Terminal"
import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import { Argv } from "@acp-kit/platform/Argv"
import { Files } from "@acp-kit/platform/Files"
import { Host } from "@acp-kit/platform/Host"
import { Main } from "@acp-kit/platform/Main"
import { Processes } from "@acp-kit/platform/Processes"
import { Stdio } from "@acp-kit/platform/Stdio"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Runs the command line in `argv` as this process and leaves with its exit code. */
export const run = (argv: ReadonlyArray<string>, version: string): void => {
  const terminal = Terminal.layerWith({
    inIsTerminal: isatty(0),
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    size: () => process.stderr,
  })
  const services = terminal.pipe(
    Layer.provide(Stdio.layer),
    Layer.provideMerge(Layer.mergeAll(Processes.layer, Files.layer, JsonSchemas.layer)),
    Layer.provideMerge(Host.layerRead(version)),
  )
  const refuse = (why: string) =>
    Effect.sync(() => {
      process.stderr.write(`kit: ${why}\n`)
      return 2
    })
  const program = Effect.suspend(() => {
    const damage = Argv.damage()
    return damage === undefined ? Effect.provide(Cli.run(kit, argv), services) : refuse(damage)
  })
  Main.run(Effect.catchTag(program, "HostUnusable", ({ message }) => refuse(message)))
}
