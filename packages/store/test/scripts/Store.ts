export { is as isAgentId } from "../../src/AgentId.ts"
export { SessionStore } from "../../src/SessionStore.ts"
