import type { Page } from "@acp-kit/agent/AgentSessions"

/** A page of sessions as both versions write it. */
export const pageOf = ({ sessions, next }: Page) => ({
  sessions: sessions.flatMap(({ id, info, updated }) =>
    info === undefined
      ? []
      : [
          {
            sessionId: id,
            cwd: info.cwd,
            additionalDirectories: [...info.additional_directories],
            title: info.title ?? null,
            updatedAt: new Date(updated).toISOString(),
          },
        ],
  ),
  ...(next === undefined ? {} : { nextCursor: next }),
})
