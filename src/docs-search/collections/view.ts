/** The collections that one key opens. */
import type { DocumentIndex } from '../index/worker/protocol.ts'
import type { KeyHolder } from '../keys/keys.ts'
import type { CollectionSet } from './collection-set.ts'

/** Of the protocol: with sessions (up to 2025-11-25), or without. */
export type Era = 'legacy' | 'modern'

export interface CollectionView {
  readonly index: DocumentIndex
  /** The names of the open collections, in the order in which they are served. */
  all(): readonly string[]
  /** Those of them whose directory is there. */
  present(): readonly string[]
  /** Whether an address leads into an open collection. */
  opens(uri: string): boolean
}

export function viewOf(library: CollectionSet, { collections }: KeyHolder): CollectionView {
  const open = (name: string) => collections === 'all' || collections.includes(name)
  return {
    index: library.index,
    all: () => library.names.filter(open),
    present: () => library.present.filter(open),
    opens: (uri) => open(collectionOf(uri)),
  }
}

function collectionOf(uri: string): string {
  const name = /^doc:\/\/([^/]*)\//.exec(uri)?.[1] ?? ''
  return URL.canParse(uri) ? decodeURIComponent(name) : ''
}
