/** Search where sessions are kept in a cluster: there is no index over it yet. */
import { fail } from '../../errors/parley-error.ts'
import type { SearchIndex } from '../../ports/search.ts'

export const withoutSearch: SearchIndex = {
  inspect: async () => ({ kind: 'absent' }),
  search: async () => fail('SEARCH_UNAVAILABLE', { reason: 'this version of Parley has no index over a cluster' }),
  changed: () => undefined,
  follow: () => undefined,
  close: () => Promise.resolve(),
}
