/** Documents that permission rules hide from the asker: they are in no result, no count and no list, and are refused by address. */
import { join } from 'node:path'
import { LruMap } from '../../../async/lru.ts'
import { type PathAccess, barOf } from '../../../path-rules/path-rules.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { IndexReader } from '../store/index-reader.ts'
import type { ServedCollection } from '../worker/protocol.ts'
import { formatCount } from '../../../text/shorten.ts'

/** Pairs of rules and states of the index that are remembered; sessions of one server mostly share one. */
const MAX_CACHED_RULES = 8

export class HiddenDocuments {
  readonly #lookup: IndexReader
  readonly #lately = new LruMap<string, readonly number[]>(MAX_CACHED_RULES)

  constructor(lookup: IndexReader) {
    this.#lookup = lookup
  }

  /** The numbers of the documents of these collections that the asker may not see. */
  among(present: readonly ServedCollection[], access: PathAccess | undefined): readonly number[] {
    if (access === undefined) return []
    const asked = JSON.stringify([this.#lookup.generation, present.map(({ id, real }) => [id, real]), access])
    return this.#lately.getOrMake(asked, () => this.#look(present, access))
  }

  #look(present: readonly ServedCollection[], access: PathAccess): readonly number[] {
    const places = this.#lookup.places(present.map(({ id }) => id))
    return places.flatMap(({ document, collection, file }) => {
      const served = present.find(({ id }) => id === collection)
      return served === undefined || isExcluded(served, file, access) ? [document] : []
    })
  }

  notice(present: readonly ServedCollection[], access: PathAccess | undefined): string | undefined {
    const { length } = this.among(present, access)
    if (length === 0) return undefined
    return `Left out, because rules of permission keep them from the document search: ${formatCount(length)}.`
  }

  /** Throws DOCUMENT_NOT_ALLOWED, whether or not there is such a document, because a refusal must not reveal that. */
  requireOpen(uri: string, present: readonly ServedCollection[], access: PathAccess | undefined): void {
    if (access === undefined) return
    const { collection, file } = locationOf(uri)
    const served = present.find(({ name }) => name === collection)
    if (served !== undefined && isExcluded(served, file, access)) fail('DOCUMENT_NOT_ALLOWED', { file })
  }
}

function isExcluded({ real }: ServedCollection, file: string, access: PathAccess): boolean {
  return real === null || barOf(join(real, file), access) !== undefined
}

/** Of an address as the index writes it. */
function locationOf(uri: string): { readonly collection: string; readonly file: string } {
  const [, collection = '', file = ''] = /^doc:\/\/([^/]*)\/(.*)$/su.exec(uri) ?? []
  try {
    return { collection: decodeURIComponent(collection), file: decodeURIComponent(file) }
  } catch {
    // Not encoded as addresses are: it names no document.
    return { collection: '', file: '' }
  }
}
