/** A JSON object, as it came from the wire. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value)

export const fields = (value: unknown): Fields => (isFields(value) ? value : {})

export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
