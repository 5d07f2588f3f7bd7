import * as Fs from "node:fs"
import * as Path from "node:path"
import { promptText } from "./Sessions.ts"
import type { Stage } from "./Stage.ts"
import type { Play } from "./Steps.ts"

/** Bun swallows an event that repeats the one before within a few milliseconds. */
const pulseMs = 25

/** Resolves once the file exists; woken by the directory, which must exist. */
const fileExists = (file: string): Promise<void> =>
  new Promise((resolve) => {
    const watcher = Fs.watch(Path.dirname(file), () => check())
    const pulse = setInterval(() => check(), pulseMs)
    const check = () => {
      if (!Fs.existsSync(file)) return
      clearInterval(pulse)
      watcher.close()
      resolve()
    }
    check()
  })

/** Tells what was injected, as the message and as text. */
export const tellInject = async (stage: Stage): Promise<void> => {
  const inject = await stage.nextInject()
  if (inject === undefined) return
  const content = Array.isArray(inject.content) ? inject.content : []
  if (stage.version !== 1) {
    await stage.update({ sessionUpdate: "user_message", messageId: inject.messageId, content })
  }
  await stage.say(`steered: ${promptText(content)}`)
}

export const waits: Readonly<Record<string, Play>> = {
  wait: async (stage, value) => {
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<void>((resume) => {
      timer = setTimeout(resume, Number(value))
    })
    await Promise.race([over, stage.cancelled])
    clearTimeout(timer)
  },
  gate: async (stage, value) => {
    stage.peer.wire.event("gate", value)
    await Promise.race([fileExists(String(value)), stage.cancelled])
  },
  touch: async (_, value) => Fs.closeSync(Fs.openSync(String(value), "a")),
  awaitCancel: (stage) => stage.cancelled,
  awaitInject: tellInject,
}
