import * as Package from "@acp-kit/cli"
import { Arguments } from "@acp-kit/cli/Arguments"
import { group } from "@acp-kit/cli/Command"
import * as Result from "effect/Result"

const request = Arguments.parse(group("kit", "runs agents", []), ["--version"])
console.log(Result.isSuccess(request) && request.success.kind === "version" && "Cli" in Package ? "ok" : JSON.stringify(request))
