/** Search over all sessions: the queries of any connected client, and those of a command without a server. */
import type { Config } from '../../config/settings.ts'
import { type Scope, reaches } from '../../credentials/scope.ts'
import { fail } from '../../errors/parley-error.ts'
import type { SearchAnswer, SearchHit, SearchIndex, SearchRequest } from '../../ports/search.ts'
import { hasJournal, openSearch } from './open-state.ts'

const DEFAULT_PASSAGES = 20
const MAX_PASSAGES = 200
/** How long a client waits for an index that is still being made. Milliseconds. */
const TIMEOUT_MS = 300

/** A passage as programs see it, on the wire and in `--json`. */
export interface SessionPassage {
  readonly sessionId: string
  readonly cwd: string
  readonly title?: string
  readonly by: SearchHit['by']
  readonly turnId?: string
  /** Its first and its last entry. */
  readonly seq: number
  readonly until: number
  /** ISO 8601. */
  readonly at: string
  readonly text: string
  /** Where in `text` the words stand: UTF-16 offsets, the end not included. */
  readonly highlights: SearchHit['highlights']
}

export interface Searched {
  readonly passages: readonly SessionPassage[]
  readonly more: boolean
  /** Entries that are stored and were not searched yet. */
  readonly behind: number
}

/** The method of the wire, for a client that reaches the sessions of `scope`. */
export function searchMethod(
  index: SearchIndex,
  scope: Scope = 'all',
): Readonly<Record<string, (params: unknown) => Promise<unknown>>> {
  const reached = scope === 'all' ? {} : { within: scope }
  return {
    '_parley/search': async (params) => {
      const { hits, ...found } = await index.search({ ...reached, ...parseSearch(params) })
      // The index compares texts, and `..` in one leads elsewhere.
      return searched({ ...found, hits: hits.filter(({ sessionId: id, cwd }) => reaches(scope, { id, cwd })) })
    },
  }
}

/** Reads the state directory itself, also while a server owns it; the index is updated first, for this long at most. */
export async function searchStoredSessions(config: Config, request: SearchRequest): Promise<Searched> {
  // Without a journal there is nothing to find, and no index is created.
  if (!hasJournal(config)) return { passages: [], more: false, behind: 0 }
  const index = openSearch(config)
  try {
    return searched(await index.search(request))
  } finally {
    await index.close()
  }
}

function searched({ hits, more, behind }: SearchAnswer): Searched {
  return { passages: hits.map(passageOf), more, behind }
}

function passageOf({ sessionId, cwd, title, by, turn, seq, until, at, text, highlights }: SearchHit): SessionPassage {
  return {
    sessionId,
    cwd,
    ...(title === null ? {} : { title }),
    by,
    ...(turn === null ? {} : { turnId: turn }),
    seq,
    until,
    at: new Date(at).toISOString(),
    text,
    highlights,
  }
}

function parseSearch(params: unknown): SearchRequest {
  const { query, cwd, sessionId, limit = DEFAULT_PASSAGES } = (params ?? {}) as Readonly<Record<string, unknown>>
  if (typeof query !== 'string') return failParams('query must be a text')
  if (cwd !== undefined && cwd !== null && typeof cwd !== 'string') return failParams('cwd must be a text')
  if (sessionId !== undefined && sessionId !== null && typeof sessionId !== 'string')
    return failParams('sessionId must be a text')
  if (!isLimit(limit)) return failParams(`limit must be a number from 1 to ${MAX_PASSAGES}`)
  return {
    query,
    limit,
    timeoutMs: TIMEOUT_MS,
    ...(typeof cwd === 'string' ? { cwd } : {}),
    ...(typeof sessionId === 'string' ? { within: { sessions: [sessionId] } } : {}),
  }
}

function isLimit(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_PASSAGES
}

function failParams(reason: string): never {
  return fail('PARAMS_INVALID', { method: '_parley/search', reason })
}
