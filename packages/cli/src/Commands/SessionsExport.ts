import { Host } from "@acp-kit/platform/Host"
import type { Copied, OnCopied } from "@acp-kit/store/Archive"
import { SessionStore } from "@acp-kit/store/SessionStore"
import type { StoreError } from "@acp-kit/store/StoreError"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import { command } from "../Command.ts"
import { Flag } from "../Flag.ts"
import { LongWork } from "../LongWork.ts"
import { Output } from "../Output.ts"
import { printable } from "../Printable.ts"
import { size } from "../Size.ts"
import { Store } from "../Store.ts"

const absolute = Effect.fnUntraced(function* (named: string) {
  const host = yield* Host.Service
  const path = yield* Path.Path
  return path.resolve(host.cwd, named)
})

/** Shows how much was copied, for as long as it goes on. */
const copying = (copy: (onCopied: OnCopied) => Effect.Effect<Copied, StoreError>) => {
  let [done, all] = [0, 0]
  const onCopied: OnCopied = (bytes, of) => {
    ;[done, all] = [bytes, of]
  }
  return LongWork.during(() => `copied ${size(done)} of ${size(all)}`)(Store.tried(copy(onCopied)))
}

/** `kit sessions export ID DIR`. */
export const sessionsExport = command({
  name: "export",
  summary: "copy a session with its agents to a new directory, also while it is open",
  details: [
    "The copy is whole: documents, transcripts and wire logs, those of nested Kits too, with a manifest of sizes and checksums. It holds the prompts and conversations as they are; whoever gets it can read them. A copy that fails leaves nothing.",
  ],
  parameters: { ID: Flag.required("the session"), DIR: Flag.required("the directory to make") },
  flags: { json: Flag.toggle({ summary: "print {id, directory, files, bytes}" }) },
  examples: [{ line: "sessions export ID backup", does: "a copy that kit sessions import takes, here or elsewhere" }],
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const directory = yield* absolute(parameters.DIR)
        const { id, files, bytes } = yield* copying((onCopied) => store.exportTo(parameters.ID, directory, onCopied))
        if (flags.json) yield* Output.value({ id, directory, files, bytes }, true)
        else yield* Output.lines([`${files} files, ${size(bytes)}, in ${printable(directory)}`])
        return 0 as const
      }),
    ),
})

/** `kit sessions import DIR`. */
export const sessionsImport = command({
  name: "import",
  summary: "make a session of a directory that export made, under its own id",
  details: [
    "It is taken whole or not at all: every file must be there with the size and checksum of the manifest, and no name may lead elsewhere. One whose id, or that of a nested Kit, is taken is refused. What Kimi CLI wrote is taken by kit subagents import.",
  ],
  parameters: { DIR: Flag.required("the directory") },
  flags: { json: Flag.toggle({ summary: "print {id, files, bytes}" }) },
  run: ({ parameters, flags }) =>
    Store.use(
      Effect.gen(function* () {
        const store = yield* SessionStore.Service
        const directory = yield* absolute(parameters.DIR)
        const { id, files, bytes } = yield* copying((onCopied) => store.importFrom(directory, onCopied))
        if (flags.json) yield* Output.value({ id, files, bytes }, true)
        else yield* Output.lines([id])
        return 0 as const
      }),
    ),
})
