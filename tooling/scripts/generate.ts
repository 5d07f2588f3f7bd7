import { regenerate } from "./Generated.ts"
import { root } from "./Workspace.ts"

for (const file of regenerate(root)) console.log(file)
