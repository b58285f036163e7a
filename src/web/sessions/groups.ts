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
  readonly waiting?: Waiting | undefined
}

/** The oldest question of a session. */
export interface Waiting {
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

export function fits(row: SessionRow, filter: { readonly text: string; readonly group: string }): boolean {
  const text = filter.text.trim().toLowerCase()
  const all = `${row.title ?? ''} ${row.cwd} ${row.agent ?? ''}`.toLowerCase()
  return (filter.group === '' || groupOf(row) === filter.group) && (text === '' || all.includes(text))
}

/** Groups that have sessions, each with its newest first. */
export function grouped(
  rows: readonly SessionRow[],
): readonly { readonly group: Group; readonly rows: readonly SessionRow[] }[] {
  return GROUPS.flatMap((group) => {
    const own = rows.filter((row) => groupOf(row) === group)
    return own.length === 0 ? [] : [{ group, rows: own }]
  })
}

/** `~/app` for a path; the server's own home is not known, so the last two parts stand for it. */
export function shortPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '')
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join('/')}`
}
