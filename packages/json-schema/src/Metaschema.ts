interface Schema {
  readonly [keyword: string]: unknown
}

/** The JSON Schema dialects that are read. 2020-12 unless `$schema` says draft 7. */
export type Dialect = "2020-12" | "7"

const self: Schema = { $ref: "#" }
const schemas: Schema = { type: "array", minItems: 1, items: self }
const map: Schema = { type: "object", additionalProperties: self }
const strings: Schema = { type: "array", items: { type: "string" }, uniqueItems: true }
const count: Schema = { type: "integer", minimum: 0 }
const text: Schema = { type: "string" }
const flag: Schema = { type: "boolean" }
const primitive: Schema = { enum: ["array", "boolean", "integer", "null", "number", "object", "string"] }

const shared: Record<string, Schema | boolean> = {
  $id: text,
  $schema: text,
  $ref: text,
  $anchor: { type: "string", pattern: "^[A-Za-z_][-A-Za-z0-9._]*$" },
  $dynamicRef: text,
  $dynamicAnchor: text,
  $vocabulary: { type: "object" },
  $comment: text,
  $defs: map,
  definitions: map,
  title: text,
  description: text,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  examples: { type: "array" },
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  contentSchema: self,
  additionalProperties: self,
  unevaluatedProperties: self,
  unevaluatedItems: self,
  properties: map,
  patternProperties: map,
  dependentSchemas: map,
  dependentRequired: { type: "object", additionalProperties: strings },
  dependencies: { type: "object", additionalProperties: { anyOf: [self, strings] } },
  propertyNames: self,
  contains: self,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: self,
  if: self,
  then: self,
  else: self,
  type: { anyOf: [primitive, { type: "array", items: primitive, minItems: 1, uniqueItems: true }] },
  enum: { type: "array" },
  multipleOf: { type: "number", exclusiveMinimum: 0 },
  maximum: { type: "number" },
  exclusiveMaximum: { type: "number" },
  minimum: { type: "number" },
  exclusiveMinimum: { type: "number" },
  maxLength: count,
  minLength: count,
  pattern: text,
  maxItems: count,
  minItems: count,
  uniqueItems: flag,
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  required: strings,
}

const of = (items: Record<string, Schema | boolean>): Schema => ({
  type: ["object", "boolean"],
  properties: { ...shared, ...items },
})

/**
 * The vocabularies of a dialect folded into one document that refers to itself, so that a mistake is found at every depth:
 * the published meta-schemas reach nested schemas only through `$dynamicRef`, which the validator does not follow.
 */
export const metaschema: { readonly [D in Dialect]: Schema } = {
  "2020-12": of({ prefixItems: schemas, items: self }),
  "7": of({ items: { anyOf: [self, schemas] }, additionalItems: self }),
}

/** Every keyword that has a meaning, for suggestions; `const` and `default` take any value. */
export const keywords: ReadonlySet<string> = new Set([
  ...Object.keys(shared),
  "prefixItems",
  "items",
  "additionalItems",
  "const",
  "default",
  "id",
])
