import * as JsonSchema from "@acp-kit/json-schema"
import { JsonSchemas } from "@acp-kit/json-schema/JsonSchemas"
import * as Effect from "effect/Effect"

const program = Effect.gen(function* () {
  const schemas = yield* JsonSchemas.Service
  const validator = yield* schemas.compile({ type: "object", required: ["n"], properties: { n: { type: "integer" } } })
  return [validator.check({ n: 1 }).length, validator.check({ n: 1.5 }).some((one) => one.path === "/n")]
})

const found = await Effect.runPromise(Effect.provide(program, JsonSchemas.layer))
console.log(JSON.stringify(found) === "[0,true]" && "JsonSchemas" in JsonSchema ? "ok" : JSON.stringify(found))
