import { SystemFailure } from "@acp-kit/platform/SystemFailure"
import { Layout } from "@acp-kit/store/Layout"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Scope from "effect/Scope"
import type { Child } from "./Child.ts"
import type { Parent } from "./Parent.ts"
import { SubagentError } from "./SubagentError.ts"

/**
 * The file from which an `acp.kit` child reads its system prompt (K03), `undefined` where it has none: `prompt.txt` of the child, or, where the parent's
 * session is not on disk, a temporary file that lives as long as the scope.
 */
export const file = Effect.fnUntraced(function* (
  parent: Parent,
  child: Child,
  prompt: string,
): Effect.fn.Return<string | undefined, SubagentError, FileSystem.FileSystem | Scope.Scope> {
  if (prompt === "") return undefined
  const files = yield* FileSystem.FileSystem
  const session = Layout.sessionPath(parent.host.kitHome, parent.options.session.id)
  const stored = yield* Effect.orDie(Effect.map(Layout.agentPath(session, child.id), (path) => `${path}/${Layout.promptFile}`))
  if (yield* Effect.orElseSucceed(files.exists(stored), () => false)) return stored
  return yield* Effect.gen(function* () {
    const path = yield* files.makeTempFileScoped({ prefix: "kit-prompt-" })
    yield* files.writeFileString(path, prompt, { mode: 0o600 })
    return path
  }).pipe(
    Effect.mapError(
      (error) =>
        new SubagentError({
          code: "STORAGE",
          message: `could not write the system prompt to a temporary file: ${SystemFailure.why(error)}`,
          retryable: true,
        }),
    ),
  )
})

export * as SystemPrompt from "./SystemPrompt.ts"
