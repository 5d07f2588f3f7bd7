/** One scenario, measured in this process: `scenarios.ts NAME HOME`. Prints one line of JSON. `HOME` is an empty directory that the caller removes. */

import { heapStats } from "bun:jsc"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { kit } from "../Launch.ts"
import { LeastLoop } from "./LeastLoop.ts"
import { agent, now, open, services } from "./Parent.ts"

const [name, home] = process.argv.slice(2) as [string, string]

const children = 120
const updates = 500
const nestedKits = 20

/** A parent in a scope of its own; `end` closes it as the end of a program does. */
const parentOf = async (store: "disk" | "memory", known?: string) => {
  const scope = Scope.makeUnsafe()
  const opening = Effect.provide(open(home, known), services(home, store), { local: true })
  const parent = await Effect.runPromise(Scope.provide(opening, scope))
  return { ...parent, end: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

type Parent = Awaited<ReturnType<typeof parentOf>>

const subagent = (parent: Parent, prompt: string, harness = "acp.agent") =>
  Effect.runPromise(parent.subagent({ prompt, harness }))

/** Resolves when so many children have begun to work. */
const working = (parent: Parent, count: number): Promise<void> => {
  const seen = new Set<string>()
  return Effect.runPromise(
    parent.events.pipe(
      Stream.takeUntil((event) => {
        if (event.type === "changed" && event.row.status === "working") seen.add(event.row.id)
        return seen.size === count
      }),
      Stream.runDrain,
    ),
  )
}

const many = <A>(count: number, make: (index: number) => Promise<A>): Promise<ReadonlyArray<A>> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/** From the call to the arrival of the prompt at the child. Nothing is written to disk. */
const overhead = async () => {
  const parent = await parentOf("memory")
  const viaKit = async () => {
    const began = now()
    const child = await subagent(parent, "when")
    const took = Number(child.output) - began
    await Effect.runPromise(parent.close({ id: child.id }))
    return took
  }
  const least = async () => {
    let said = ""
    const began = now()
    const loop = new LeastLoop(agent())
    loop.onUpdate = (update) => {
      said += update.content?.text ?? ""
    }
    await loop.prompt(await loop.open(home), "when")
    await loop.end()
    return Number(said) - began
  }
  const times: { least: Array<number>; kit: Array<number> } = { least: [], kit: [] }
  for (let round = -3; round < 40; round++) {
    const pair = round % 2 === 0 ? [await least(), await viaKit()] : [await viaKit(), await least()].reverse()
    if (round < 0) continue
    times.least.push(pair[0] as number)
    times.kit.push(pair[1] as number)
  }
  await parent.end()
  return times
}

const work = JSON.stringify({ updates, every: 20 })

/** How long after it was written an update is seen, for each that is seen; and what of all the updates is missing at the end. */
const storm = async () => {
  const parent = await parentOf("disk")
  const handles = await many(children, () => subagent(parent, "ready"))
  const kit: Array<number> = []
  void Effect.runFork(
    Stream.runForEach(parent.events, (event) =>
      Effect.sync(() => {
        if (event.type === "changed" && /^\d+\.?\d*$/.test(event.row.activity)) kit.push(now() - Number(event.row.activity))
      }),
    ),
  )
  kit.length = 0
  const turns = await Promise.all(handles.map((subagent) => Effect.runPromise(parent.prompt({ subagent, prompt: work }))))
  const said = turns.reduce((sum, { output }) => sum + String(output).split(";").length - 1, 0)
  await parent.end()

  const least: Array<number> = []
  const loops = await many(children, async () => {
    const loop = new LeastLoop(agent())
    return { loop, session: await loop.open(home) }
  })
  await Promise.all(
    loops.map(({ loop, session }) => {
      loop.onUpdate = ({ title }) => {
        if (title !== undefined) least.push(now() - Number(title))
      }
      return loop.prompt(session, work)
    }),
  )
  await Promise.all(loops.map(({ loop }) => loop.end()))
  return { kit, least, lost: (children * updates) / 2 - said, seen: kit.length, titles: (children * updates) / 2 }
}

const memory = async () => {
  await Bun.sleep(500)
  Bun.gc(true)
  await Bun.sleep(200)
  Bun.gc(true)
  return { heap: heapStats().heapSize / 1024, resident: process.memoryUsage.rss() / 1024 }
}

/** KiB for each idle child beyond the first few; what the least loop holds is the runtime's, two buffers of 64 KiB for its pipes above all. */
const idle = async () => {
  const each = async (grow: (count: number) => Promise<unknown>) => {
    await grow(10)
    const before = await memory()
    await grow(children - 10)
    const after = await memory()
    return { heap: (after.heap - before.heap) / (children - 10), resident: (after.resident - before.resident) / (children - 10) }
  }
  const loops: Array<LeastLoop> = []
  const least = await each((count) =>
    many(count, async () => {
      const loop = new LeastLoop(agent())
      loops.push(loop)
      await loop.prompt(await loop.open(home), "ready")
    }),
  )
  await Promise.all(loops.map((loop) => loop.end()))
  const parent = await parentOf("disk")
  const kit = await each((count) => many(count, () => subagent(parent, "ready")))
  await parent.end()
  return { least, kit }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .startsWith("Z")
  } catch {
    return false
  }
}

/** From the end of the program to the end of all its children, all at work, half of them deaf. */
const stop = async () => {
  const parent = await parentOf("disk")
  const ready = working(parent, children)
  for (let index = 0; index < children; index++)
    subagent(parent, '{"hang":true}', index % 2 === 0 ? "acp.agent" : "acp.stubborn").catch(() => {})
  await ready
  const records = await Effect.runPromise(parent.session.children)
  const pids = records.map(({ acp_session_id }) => Number(String(acp_session_id).split("-")[0]))
  const alive = pids.filter(isAlive).length
  const began = now()
  await parent.end()
  return { ms: now() - began, alive, survivors: pids.filter(isAlive).length }
}

/** From nothing to a roster of handles, against reading what they are written in. */
const restore = async () => {
  const first = await parentOf("disk")
  await many(children, () => subagent(first, "ready"))
  await first.end()
  const file = join(home, "sessions", first.id, "transcript.jsonl")
  const times: { kit: Array<number>; least: Array<number> } = { kit: [], least: [] }
  for (let round = 0; round < 10; round++) {
    let began = now()
    const lines = readFileSync(file, "utf8").split("\n")
    for (const line of lines) if (line !== "") JSON.parse(line)
    times.least.push(now() - began)
    began = now()
    const parent = await parentOf("disk", first.id)
    times.kit.push(now() - began)
    const rows = await Effect.runPromise(parent.roster)
    if (rows.length !== children) throw new Error(`${rows.length} handles came back`)
    await parent.end()
  }
  return times
}

/** Until the last of them has an open session. */
const nested = async () => {
  const times: { kit: Array<number>; least: Array<number> } = { kit: [], least: [] }
  const line = [kit[0] as string, ...kit.slice(1), "acp", "--protocol-version", "2", "--provider", "scripted"] as const
  for (let round = -1; round < 3; round++) {
    let began = now()
    const loops = await many(nestedKits, async () => {
      const loop = new LeastLoop(line, { KIT_HOME: home })
      await loop.open(home)
      return loop
    })
    if (round >= 0) times.least.push(now() - began)
    await Promise.all(loops.map((loop) => loop.end()))
    const parent = await parentOf("disk")
    began = now()
    const ready = working(parent, nestedKits).then(() => now() - began)
    for (let index = 0; index < nestedKits; index++) subagent(parent, "ready", "acp.kit").catch(() => {})
    const took = await ready
    if (round >= 0) times.kit.push(took)
    await parent.end()
  }
  return times
}

const scenarios: Readonly<Record<string, () => Promise<unknown>>> = { overhead, storm, idle, stop, restore, nested }
console.log(JSON.stringify(await scenarios[name]?.()))
process.exit(0)
