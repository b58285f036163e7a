/** The conversation of a session, with the position of its reader. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isRunning } from '../composer/composer.tsx'
import { clockTime, words } from '../i18n/language.ts'
import { Icon } from '../page/icons.tsx'
import { lazily } from '../page/lazily.tsx'
import type { App } from '../sessions/app.ts'
import { rangesIn } from '../find/found-words.ts'
import { keep, kept } from '../sessions/kept.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { useSeen } from '../sessions/seen.ts'
import { RowList, type RowListOwner } from './row-list.tsx'
import { RowView } from './row-view.tsx'
import { type ThreadRow, Rows, isContinued, rowAt, seqOfRow, unfold } from './rows.ts'
import type { Scroll } from './scroll-machine.ts'

const FindBar = lazily(async () => (await import('../find/find-bar.tsx')).FindBar)

interface Props {
  readonly app: App
  readonly session: OpenSession
  readonly seq: number | undefined
  readonly find: string | undefined
}

export function Talk({ app, session, seq, find }: Props) {
  const list: { current: RowList | null } = useRef<RowList>(null)
  const shaped = useRef<Rows>(null)
  const [position, setPosition] = useState<Position>(() => ({ kind: beginKind(session, seq), seen: '' }))
  shaped.current ??= new Rows()
  const runs = isRunning(session.phase.value)
  const changes = session.talk.changes.value
  const rows = useMemo(
    () => shaped.current?.of(session.talk.items, { mayFold: position.kind === 'held', isWorking: runs }) ?? [],
    [changes, runs, position.kind],
  )
  const goTo = useTarget({ session, rows, list, seq, find })
  const owner = useOwner(app, session, {
    rows,
    runs,
    setPosition,
    list,
    toBegin: () => goTo.row({ seq: 1, offset: 0 }),
  })
  const begin = useMemo(() => beginOf(session, rows, seq), [session])
  useSeen(app, session, position.kind === 'held')
  const unseen = position.kind === 'held' ? 0 : countAfter(rows, position.seen)
  return (
    <div class="talk">
      {find !== undefined && (
        <FindBar app={app} session={session} find={find} seq={seq} toWord={(offset) => goTo.within(offset)} />
      )}
      <Older session={session} />
      <RowList rows={rows} owner={owner} label={words().conversation} begin={begin} found={goTo.found} />
      {position.kind !== 'held' && (
        <button type="button" class="pill" onClick={() => list.current?.toEnd()}>
          {unseen > 0 ? words().newRows(unseen) : words().toEnd}
          <Icon name="down" />
        </button>
      )}
      <AgentLine session={session} />
    </div>
  )
}

/** Below the top of the view, so that what comes before can be seen. */
const BELOW_TOP = 64

/** The row that is looked for, else where the reader was before, else the end. */
function beginOf(session: OpenSession, rows: readonly ThreadRow[], seq: number | undefined): Scroll {
  const row = seq === undefined ? undefined : rowAt(rows, seq)
  if (row !== undefined) return { kind: 'jumping', key: row.key, offset: BELOW_TOP }
  return (kept(`place.${session.id}`) as Scroll | undefined) ?? { kind: 'held' }
}

function beginKind(session: OpenSession, seq: number | undefined): Scroll['kind'] {
  return seq === undefined && kept(`place.${session.id}`) === undefined ? 'held' : 'free'
}

interface Target {
  readonly seq: number
  readonly offset: number
  readonly isFound?: boolean
}

interface Going {
  /** The row that was looked for last. */
  readonly found: string | undefined
  /** To the row that has this entry, once it is here. */
  row(target: Target): void
  /** So that a part of the row that was looked for, this far below its top, is in view. */
  within(offset: number): void
}

function useTarget({
  session,
  rows,
  list,
  seq,
  find = '',
}: {
  readonly session: OpenSession
  readonly rows: readonly ThreadRow[]
  readonly list: { readonly current: RowList | null }
  readonly seq: number | undefined
  readonly find: string | undefined
}): Going {
  const [target, setTarget] = useState<Target>()
  const [found, setFound] = useState<string>()
  useEffect(() => setTarget(seq === undefined ? undefined : { seq, offset: BELOW_TOP, isFound: true }), [seq])
  useEffect(() => {
    if (target === undefined) return
    if (!session.history.reaches(target.seq)) return void session.history.reach(target.seq)
    const has = (text: string): boolean => target.isFound === true && rangesIn(text, find).length > 0
    const row = rowAt(rows, target.seq, has) ?? rows[0]
    if (row === undefined) return
    if (target.isFound === true) {
      unfold(row, target.seq, session.folds)
      setFound(row.key)
    }
    list.current?.jump(row.key, target.offset)
    setTarget(undefined)
  }, [target, rows])
  const within = (offset: number): void => {
    if (found !== undefined) list.current?.jump(found, BELOW_TOP - offset)
  }
  return { found, row: setTarget, within }
}

interface Position {
  readonly kind: Scroll['kind']
  /** The key of the last row that the reader has seen, or that was there when the session was opened. */
  readonly seen: string
}

function countAfter(rows: readonly ThreadRow[], key: string): number {
  const at = rows.findLastIndex((row) => row.key === key)
  return at === -1 ? 0 : rows.slice(at + 1).filter((row) => !isContinued(row)).length
}

interface Shown {
  readonly rows: readonly ThreadRow[]
  readonly runs: boolean
  readonly setPosition: (change: (before: Position) => Position) => void
  readonly list: { current: RowList | null }
  readonly toBegin: () => void
}

/** The same object at all times, for the list keeps it; it reads what is shown now. */
function useOwner(app: App, session: OpenSession, shown: Shown): RowListOwner {
  const now = useRef(shown)
  now.current = shown
  return useMemo(
    () => ({
      ready: (list: RowList) => (now.current.list.current = list),
      row: (index: number) => {
        const { rows, runs } = now.current
        const row = rows[index]
        if (row === undefined) return null
        const isGrowing = runs && index === rows.length - 1
        return <RowView row={row} app={app} session={session} folds={session.folds} isGrowing={isGrowing} />
      },
      moved: (state: Scroll, lastSeen: number) => {
        keepPlace(session, state, now.current.rows)
        const { rows } = now.current
        now.current.setPosition((before) => {
          const known = rows.findLastIndex(({ key }) => key === before.seen)
          // One that is folded now, or none yet: nothing is new.
          const seen = rows[known === -1 ? rows.length - 1 : Math.max(known, lastSeen)]?.key ?? ''
          return before.kind === state.kind && before.seen === seen ? before : { kind: state.kind, seen }
        })
      },
      towardsBegin: (isWanted: boolean) => (isWanted ? now.current.toBegin() : session.history.older()),
    }),
    [session],
  )
}

/** With its entry, so that a reload can fetch what is from there on. */
function keepPlace(session: OpenSession, state: Scroll, rows: readonly ThreadRow[]): void {
  if (state.kind === 'held') return keep(`place.${session.id}`, undefined)
  const row = rows.find(({ key }) => key === state.key)
  keep(`place.${session.id}`, { ...state, kind: 'free', seq: row === undefined ? undefined : seqOfRow(row) })
}

/** Above the rows and not among them: it moves nothing. */
function Older({ session: { history } }: { readonly session: OpenSession }) {
  const { olderLoading, olderTrouble, tryAgain } = words()
  if (history.trouble.value !== '')
    return (
      <p class="older trouble" role="alert">
        {olderTrouble(history.trouble.value)}{' '}
        <button type="button" class="second" onClick={() => history.older()}>
          {tryAgain}
        </button>
      </p>
    )
  return history.isLoading.value ? <p class="older soft">{olderLoading}</p> : null
}

/** Why nothing is to be seen of the agent. */
function AgentLine({ session }: { readonly session: OpenSession }) {
  const notice = session.agentState.value
  if (notice === undefined) return null
  const { starts, quiet } = words()
  const since = notice.since === undefined ? Date.now() : Date.parse(notice.since)
  const text = notice.state === 'starting' ? starts[notice.step ?? ''] : quiet(clockTime(since))
  return <p class="agent-line soft">{text}</p>
}
