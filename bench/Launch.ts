import { join } from "node:path"

/** The root of the repository. */
export const root = join(import.meta.dir, "..")

/** The built `kit`. */
export const kit: ReadonlyArray<string> = [process.execPath, join(root, "apps/kit/bin/kit.js")]
