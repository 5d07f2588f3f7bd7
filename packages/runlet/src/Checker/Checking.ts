import type { Draft } from "../Draft.ts"
import type { Effects } from "../Effects.ts"
import type { Registry } from "../Registry.ts"
import type { Block, Expr, Fold } from "../Syntax.ts"
import type { Type } from "../Types.ts"
import type { Binding, Names } from "./Names.ts"

/** What the parts of the checker share. */
export interface Checking {
  readonly registry: Registry
  readonly effects: Effects
  readonly foldTypes: Map<Fold, Type>
  readonly report: (draft: Draft) => void
  /** Runs a check whose reports are kept only if `keep` says so afterwards. */
  readonly trial: <A>(check: () => A) => { readonly result: A; readonly keep: () => void }
  /** The nearest names, as long as not too many were asked for; `lenient` for those that are all there is. */
  readonly candidates: (word: string, names: () => Iterable<string>, lenient?: boolean) => ReadonlyArray<string>
  /** Folds around the place being checked: each is checked twice, so only a few may be. */
  foldDepth: number
  /** What compiling patterns has cost so far. */
  patterns: number
  readonly infer: (expr: Expr, names: Names) => Type
  readonly block: (
    block: Block,
    parent: Names,
    bound: ReadonlyArray<readonly [name: { name: string; span: Binding["span"] }, type: Type]>,
  ) => CheckedBlock
}

export interface CheckedBlock {
  readonly type: Type
  readonly names: Names
}
