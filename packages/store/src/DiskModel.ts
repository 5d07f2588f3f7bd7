import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Call, DiskError, type File, type Interface, Service } from "./Disk.ts"

/** A change to a file that no sync has covered yet. */
type Change = { readonly at: number; readonly bytes: Uint8Array } | { readonly size: number }

interface FileNode {
  readonly kind: "file"
  readonly identity: string
  /** What the kernel shows. */
  data: Uint8Array
  length: number
  /** What is on disk. */
  durable: Uint8Array
  pending: Array<Change>
  mode: number
  modified: number
}

interface DirectoryNode {
  readonly kind: "directory"
  readonly identity: string
  entries: Map<string, Node>
  durable: Map<string, Node>
  /** Entry changes in order, each atomic; `undefined` takes the name away. */
  pending: Array<ReadonlyArray<readonly [name: string, node: Node | undefined]>>
  mode: number
}

type Node = FileNode | DirectoryNode

/** How a choice among `count` alternatives is made, 0 to `count - 1`. */
export type Choose = (count: number) => number

let made = 0
const identity = (): string => `model:${++made}`

const emptyDirectory = (): DirectoryNode => ({
  kind: "directory",
  identity: identity(),
  entries: new Map(),
  durable: new Map(),
  pending: [],
  mode: 0o700,
})
const newFile = (bytes: Uint8Array = new Uint8Array(0)): FileNode => ({
  kind: "file",
  identity: identity(),
  data: bytes,
  length: bytes.length,
  durable: bytes,
  pending: [],
  mode: 0o600,
  modified: 0,
})

/**
 * A disk in memory. With `tracking` it remembers what no sync has covered, so that {@link DiskModel.afterPowerLoss} can say in which states a machine that
 * loses power may leave it: entries of a directory vanish in order, the unsynced bytes of a file are absent, cut anywhere, or zero.
 */
export class DiskModel {
  readonly root: DirectoryNode
  private readonly tracking: boolean
  private clock = 0

  constructor(options: { readonly tracking: boolean; readonly root?: DirectoryNode }) {
    this.tracking = options.tracking
    this.root = options.root ?? emptyDirectory()
  }

  /** What a process finds that starts after this one was killed: everything that reached the kernel. */
  afterKill(): DiskModel {
    return new DiskModel({ tracking: true, root: settled(this.root) as DirectoryNode })
  }

  /** One of the states that a power loss may leave. */
  afterPowerLoss(choose: Choose): DiskModel {
    return new DiskModel({ tracking: true, root: survivor(this.root, choose) as DirectoryNode })
  }

  /** The bytes of a file as the kernel shows them. */
  contentOf(path: string): Uint8Array | undefined {
    const node = this.find(path)
    return node?.kind === "file" ? node.data.subarray(0, node.length) : undefined
  }

  /** Replaces a file's bytes behind everybody's back. */
  corrupt(path: string, bytes: Uint8Array): void {
    const node = this.find(path)
    if (node?.kind === "file") Object.assign(node, newFile(bytes.slice()), { identity: node.identity })
  }

  /** The calls over this disk. */
  readonly calls: Interface = {
    openExclusive: (path) =>
      this.run("openExclusive", path, () => {
        const [parent, name] = this.parentOf(path)
        if (parent.entries.has(name)) throw fault("EEXIST")
        const node = newFile()
        this.change(parent, [[name, node]])
        return { path, handle: node }
      }),
    openAppend: (path) => this.run("openAppend", path, () => ({ path, handle: this.file(path) })),
    openRead: (path) => this.run("openRead", path, () => ({ path, handle: this.file(path) })),
    read: (file, offset, length) =>
      this.run("read", file.path, () => node(file).data.slice(offset, Math.min(offset + length, node(file).length))),
    write: (file, bytes) =>
      this.run("write", file.path, () => {
        const target = node(file)
        const change = { at: target.length, bytes: bytes.slice() }
        apply(target, change)
        target.modified = ++this.clock
        if (this.tracking) target.pending.push(change)
      }),
    size: (file) => this.run("size", file.path, () => node(file).length),
    truncate: (file, size) =>
      this.run("truncate", file.path, () => {
        apply(node(file), { size })
        if (this.tracking) node(file).pending.push({ size })
      }),
    sync: (file) =>
      this.run("sync", file.path, () => {
        if (!this.tracking) return
        const target = node(file)
        target.durable = target.data.slice(0, target.length)
        target.pending = []
      }),
    close: () => Effect.void,
    syncDirectory: (path) =>
      this.run("syncDirectory", path, () => {
        const directory = this.directory(path)
        directory.durable = new Map(directory.entries)
        directory.pending = []
      }),
    stat: (path) =>
      this.run("stat", path, () => {
        const found = this.find(path)
        if (found === undefined) return undefined
        return found.kind === "file"
          ? { kind: "file", size: found.length, mode: found.mode, uid: 0, identity: found.identity, modified: found.modified }
          : { kind: "directory", size: 0, mode: found.mode, uid: 0, identity: found.identity, modified: 0 }
      }),
    list: (path) =>
      this.run("list", path, () => {
        const found = this.find(path)
        if (found === undefined) return undefined
        if (found.kind === "file") throw fault("ENOTDIR")
        return [...found.entries.keys()].sort()
      }),
    directories: (path) =>
      this.run("list", path, () => {
        const found = this.find(path)
        if (found === undefined) return undefined
        if (found.kind === "file") throw fault("ENOTDIR")
        return [...found.entries.keys()].filter((name) => this.find(`${path}/${name}`)?.kind === "directory")
      }),
    readFile: (path) =>
      this.run("readFile", path, () => {
        const found = this.find(path)
        if (found === undefined) return undefined
        if (found.kind !== "file") throw fault("EISDIR")
        return found.data.slice(0, found.length)
      }),
    readFiles: (paths) =>
      Effect.forEach(paths, (path) =>
        Effect.match(this.calls.readFile(path), { onFailure: (error) => error, onSuccess: (bytes) => bytes }),
      ),
    makeDirectory: (path) =>
      this.run("makeDirectory", path, () => {
        const [parent, name] = this.parentOf(path)
        if (parent.entries.has(name)) throw fault("EEXIST")
        this.change(parent, [[name, emptyDirectory()]])
      }),
    rename: (from, to) =>
      this.run("rename", from, () => {
        const [source, name] = this.parentOf(from)
        const [target, next] = this.parentOf(to)
        const moved = source.entries.get(name)
        if (moved === undefined) throw fault("ENOENT")
        const there = target.entries.get(next)
        if (there?.kind === "directory" && there.entries.size > 0) throw fault("ENOTEMPTY")
        if (source === target)
          this.change(source, [
            [next, moved],
            [name, undefined],
          ])
        else {
          this.change(target, [[next, moved]])
          this.change(source, [[name, undefined]])
        }
      }),
    unlink: (path) =>
      this.run("unlink", path, () => {
        const [parent, name] = this.parentOf(path)
        if (parent.entries.has(name)) this.change(parent, [[name, undefined]])
      }),
    removeTree: (path) =>
      this.run("removeTree", path, () => {
        const [parent, name] = this.parentOf(path)
        const found = parent.entries.get(name)
        if (found?.kind === "directory") this.empty(found)
        if (found !== undefined) this.change(parent, [[name, undefined]])
      }),
    chmod: (path, mode) =>
      this.run("chmod", path, () => {
        const found = this.find(path)
        if (found === undefined) throw fault("ENOENT")
        found.mode = mode
      }),
  }

  private run<A>(call: Call, path: string, body: () => A): Effect.Effect<A, DiskError> {
    return Effect.suspend(() => {
      try {
        return Effect.succeed(body())
      } catch (error) {
        const code = error instanceof Fault ? error.code : "EUNKNOWN"
        return Effect.fail(new DiskError({ call, path, code }))
      }
    })
  }

  private change(directory: DirectoryNode, changes: ReadonlyArray<readonly [string, Node | undefined]>): void {
    alter(directory.entries, changes)
    if (this.tracking) directory.pending.push(changes)
  }

  /** Removes what is in a directory, leaves first, each entry on its own: a crash may leave any part of it. */
  private empty(directory: DirectoryNode): void {
    for (const [name, child] of [...directory.entries]) {
      if (child.kind === "directory") this.empty(child)
      this.change(directory, [[name, undefined]])
    }
  }

  private find(path: string): Node | undefined {
    let at: Node | undefined = this.root
    for (const name of path.split("/").filter((part) => part.length > 0)) {
      if (at?.kind !== "directory") return undefined
      at = at.entries.get(name)
    }
    return at
  }

  private directory(path: string): DirectoryNode {
    const found = this.find(path)
    if (found === undefined) throw fault("ENOENT")
    if (found.kind !== "directory") throw fault("ENOTDIR")
    return found
  }

  private file(path: string): FileNode {
    const found = this.find(path)
    if (found === undefined) throw fault("ENOENT")
    if (found.kind !== "file") throw fault("EISDIR")
    return found
  }

  private parentOf(path: string): readonly [DirectoryNode, string] {
    const cut = path.lastIndexOf("/")
    return [this.directory(path.slice(0, cut)), path.slice(cut + 1)]
  }
}

class Fault extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

const fault = (code: string): Fault => new Fault(code)
const node = (file: File): FileNode => file.handle as FileNode

const apply = (file: FileNode, change: Change): void => {
  if ("size" in change) {
    file.length = Math.min(file.length, change.size)
    return
  }
  const end = change.at + change.bytes.length
  if (end > file.data.length) {
    const grown = new Uint8Array(Math.max(end, file.data.length * 2))
    grown.set(file.data.subarray(0, file.length))
    file.data = grown
  }
  file.data.set(change.bytes, change.at)
  file.length = Math.max(file.length, end)
}

const alter = (entries: Map<string, Node>, changes: ReadonlyArray<readonly [string, Node | undefined]>): void => {
  for (const [name, next] of changes) {
    if (next === undefined) entries.delete(name)
    else entries.set(name, next)
  }
}

/** A copy whose every byte and entry is on disk. */
const settled = (from: Node): Node => {
  if (from.kind === "file") return { ...newFile(from.data.slice(0, from.length)), mode: from.mode }
  const copy = emptyDirectory()
  for (const [name, child] of from.entries) copy.entries.set(name, settled(child))
  copy.durable = new Map(copy.entries)
  return copy
}

const survivor = (from: Node, choose: Choose): Node => {
  if (from.kind === "file") return newFile(survivingBytes(from, choose))
  const entries = new Map(from.durable)
  for (const changes of from.pending.slice(0, choose(from.pending.length + 1))) alter(entries, changes)
  const copy = emptyDirectory()
  for (const [name, child] of entries) copy.entries.set(name, survivor(child, choose))
  copy.durable = new Map(copy.entries)
  return copy
}

const survivingBytes = (from: FileNode, choose: Choose): Uint8Array => {
  if (from.pending.length === 0) return from.durable
  const file = newFile(from.durable.slice())
  const whole = choose(from.pending.length + 1)
  for (const change of from.pending.slice(0, whole)) apply(file, change)
  const torn = from.pending[whole]
  if (torn !== undefined && "bytes" in torn) {
    const cut = choose(torn.bytes.length + 1)
    const bytes = torn.bytes.slice()
    bytes.fill(0, cut)
    apply(file, { at: torn.at, bytes: choose(2) === 0 ? bytes.subarray(0, cut) : bytes })
  } else if (torn === undefined && choose(4) === 0) {
    const hole = from.durable.length + choose(Math.max(1, file.length - from.durable.length))
    file.data.fill(0, hole, Math.min(file.length, hole + 1 + choose(Math.max(1, file.length - hole))))
  }
  return file.data.slice(0, file.length)
}

/** A disk in memory that forgets with its layer; for parents that are not persistent. */
export const layer: Layer.Layer<Service> = Layer.sync(Service, () => new DiskModel({ tracking: false }).calls)

export const layerOf = (model: DiskModel): Layer.Layer<Service> => Layer.succeed(Service, model.calls)
