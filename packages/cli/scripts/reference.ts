import { kit } from "../src/Kit.ts"
import { Reference } from "../src/Reference.ts"

process.stdout.write(Reference.page(kit))
