import { reserveOutput } from "@acp-kit/platform/ReservedOutput"

reserveOutput()

void import("./KitAcp.ts").then(({ main }) => main(process.argv.slice(process.argv[2] === "acp" ? 3 : 2)))
