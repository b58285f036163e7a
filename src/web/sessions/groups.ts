/** The list of sessions in the order of what a reader must do about them. Pure. */
import type { PermissionOption } from '../../client/incoming/updates.ts'

export interface SessionRow {
  readonly sessionId: string
  readonly cwd: string
  readonly title?: string | null | undefined
  readonly updatedAt?: string | null | undefined
  readonly phase?: string | undefined
  readonly agent?: string | undefined
  readonly lastEnd?: { readonly stopReason?: string } | undefined
  readonly unread?: boolean | undefined
  readonly lastSeq?: number | undefined
  readonly waiting?: OldestQuestion | undefined
}

/** The oldest question of a session. */
export interface OldestQuestion {
  readonly requestId: string
  readonly title?: string
  readonly options: readonly PermissionOption[]
}

export const GROUPS = ['waits', 'working', 'broken', 'unread', 'rest'] as const
export type Group = (typeof GROUPS)[number]

export function groupOf({ phase, waiting, lastEnd, unread }: SessionRow): Group {
  if (waiting !== undefined || phase === 'waiting' || phase === 'suspended') return 'waits'
  if (phase === 'working' || phase === 'cancelling') return 'working'
  if (lastEnd?.stopReason === 'interrupted' || lastEnd?.stopReason === 'error') return 'broken'
  return unread === true ? 'unread' : 'rest'
}

export interface Filter {
  readonly text: string
  /** One of the groups; empty: all. */
  readonly group: string
}

export interface Shown {
  /** Groups that have sessions which fit the filter, each with its newest first. */
  readonly groups: readonly { readonly group: Group; readonly rows: readonly SessionRow[] }[]
  /** How many sessions fit the filter and are not shown. */
  readonly more: number
  /** All sessions of each group, whatever the filter. */
  readonly counts: Readonly<Record<Group, number>>
}

/** The first `most` sessions that fit the filter, in the order of the groups; `rows` come newest first. */
export function shownOf(rows: readonly SessionRow[], filter: Filter, most: number): Shown {
  const byGroup: Record<Group, SessionRow[]> = { waits: [], working: [], broken: [], unread: [], rest: [] }
  const counts = { waits: 0, working: 0, broken: 0, unread: 0, rest: 0 }
  const text = filter.text.trim().toLowerCase()
  for (const row of rows) {
    const group = groupOf(row)
    counts[group] += 1
    if ((filter.group === '' || group === filter.group) && (text === '' || has(row, text))) byGroup[group].push(row)
  }
  let left = most
  const groups = GROUPS.map((group) => {
    const own = byGroup[group].slice(0, left)
    left -= own.length
    return { group, rows: own }
  })
  const fitting = GROUPS.reduce((sum, group) => sum + byGroup[group].length, 0)
  return { groups: groups.filter((one) => one.rows.length > 0), more: fitting - (most - left), counts }
}

function has({ title, cwd, agent }: SessionRow, text: string): boolean {
  return `${title ?? ''} ${cwd} ${agent ?? ''}`.toLowerCase().includes(text)
}

interface News {
  /** The list begins anew with these. */
  readonly reset: boolean
  readonly sessions: readonly SessionRow[]
  /** Ids. */
  readonly removed: readonly string[]
}

/** The list after a notification, newest first. A snapshot of many sessions comes in parts, in that order. */
export function listAfter(before: readonly SessionRow[], { reset, sessions, removed }: News): readonly SessionRow[] {
  const gone = new Set([...removed, ...sessions.map(({ sessionId }) => sessionId)])
  const kept = reset ? [] : before.filter(({ sessionId }) => !gone.has(sessionId))
  return [...sessions, ...kept].sort(newestFirst)
}

/** Times in ISO 8601 have the order of their characters; to compare them as words of a language takes a hundred times as long. */
function newestFirst(a: SessionRow, b: SessionRow): number {
  const [one, other] = [a.updatedAt ?? '', b.updatedAt ?? '']
  return one === other ? 0 : one < other ? 1 : -1
}

/** `~/app` for a path; the server's own home is not known, so the last two parts stand for it. */
export function shortPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '')
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join('/')}`
}

/** `script:/home/ada/demo.jsonl` is `demo` for a reader. */
export function agentName(agent: string): string {
  return agent.startsWith('script:') || agent.startsWith('asked-script:')
    ? (agent.split('/').at(-1) ?? agent).replace(/\.jsonl$/u, '')
    : agent
}
