import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"

/** The files and paths of this machine, on Bun, Deno and Node. */
export const layer: Layer.Layer<FileSystem.FileSystem | Path.Path> = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)

export * as Files from "./Files.ts"
