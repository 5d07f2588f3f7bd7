export { default } from "../../vitest.ci.shared.ts"
