/** One session: what was said, what is asked, and where one writes. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { QuestionDock } from '../cards/permission-card.tsx'
import { Composer, isRunning } from '../composer/composer.tsx'
import { clockTime, words } from '../i18n/language.ts'
import { Icon } from '../page/icons.tsx'
import type { App } from '../sessions/app.ts'
import { keep, kept } from '../sessions/kept.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { PlanLine } from '../thread/plan-line.tsx'
import { RowList, type RowListOwner } from '../thread/row-list.tsx'
import { RowView } from '../thread/row-view.tsx'
import { type Row, Rows } from '../thread/rows.ts'
import type { Scroll } from '../thread/scroll-machine.ts'
import { SessionHeader } from './session-header.tsx'

export function SessionScreen({
  app,
  id,
  seq,
}: {
  readonly app: App
  readonly id: string
  readonly seq: number | undefined
}) {
  const session = app.session(id)
  const opening = session?.opening.value ?? 'opening'
  return (
    <main class="session" id="main" tabIndex={-1}>
      {session !== undefined && <SessionHeader app={app} session={session} />}
      {typeof opening === 'object' ? (
        <p class="trouble block" role="alert">
          {opening.failure}
        </p>
      ) : session === undefined || opening === 'opening' ? (
        <Loading isUnknown={app.listed.value !== undefined && session === undefined} />
      ) : (
        <Talk key={session.id} session={session} seq={seq} />
      )}
      {session !== undefined && (
        <div class="foot">
          <PlanLine session={session} />
          <QuestionDock session={session} />
          <Composer app={app} session={session} />
        </div>
      )}
    </main>
  )
}

const SLOW_MS = 200

/** What comes at once is not announced. */
function Loading({ isUnknown }: { readonly isUnknown: boolean }) {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [])
  return <p class="loading soft">{isUnknown ? words().noneFits : isSlow ? words().loading : ''}</p>
}

function Talk({ session, seq }: { readonly session: OpenSession; readonly seq: number | undefined }) {
  const list: { current: RowList | null } = useRef<RowList>(null)
  const shaped = useRef<Rows>(null)
  const [position, setPosition] = useState<Position>({ kind: 'held', seen: 0 })
  shaped.current ??= new Rows()
  const runs = isRunning(session.phase.value)
  const changes = session.talk.changes.value
  const rows = useMemo(
    () => shaped.current?.of(session.talk.items, { mayFold: position.kind === 'held', isWorking: runs }) ?? [],
    [changes, runs, position.kind],
  )
  const owner = useOwner(session, { rows, runs, setPosition, list })
  const begin = useMemo(() => kept(`place.${session.id}`) as Scroll | undefined, [session.id])
  useEffect(() => {
    const row = seq === undefined ? undefined : rowAt(rows, seq)
    if (row !== undefined) list.current?.jump(row.key)
  }, [seq])
  const unseen = position.kind === 'held' ? 0 : Math.max(0, rows.length - 1 - position.seen)
  return (
    <div class="talk">
      <RowList rows={rows} owner={owner} label={words().sessions} begin={begin ?? { kind: 'held' }} />
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

interface Position {
  readonly kind: Scroll['kind']
  /** The last row that the reader has seen. */
  readonly seen: number
}

interface Shown {
  readonly rows: readonly Row[]
  readonly runs: boolean
  readonly setPosition: (change: (before: Position) => Position) => void
  readonly list: { current: RowList | null }
}

/** The same object at all times, for the list keeps it; it reads what is shown now. */
function useOwner(session: OpenSession, shown: Shown): RowListOwner {
  const now = useRef(shown)
  now.current = shown
  return useMemo(
    () => ({
      ready: (list: RowList) => (now.current.list.current = list),
      row: (index: number) => {
        const { rows, runs } = now.current
        const row = rows[index]
        if (row === undefined) return null
        return (
          <RowView row={row} session={session} folds={session.folds} isGrowing={runs && index === rows.length - 1} />
        )
      },
      moved: (state: Scroll, lastSeen: number) => {
        keep(`place.${session.id}`, state.kind === 'held' ? undefined : { ...state, kind: 'free' })
        now.current.setPosition((before) => {
          const seen = state.kind === 'held' ? lastSeen : Math.max(lastSeen, before.kind === 'held' ? 0 : before.seen)
          return before.kind === state.kind && before.seen === seen ? before : { kind: state.kind, seen }
        })
      },
      nearTop: () => session.wantOlder(),
    }),
    [session],
  )
}

/** The row that has this entry of the journal. */
function rowAt(rows: readonly Row[], seq: number): Row | undefined {
  return rows.findLast((row) => {
    const first = row.kind === 'steps' ? row.items[0]?.seq?.first : 'item' in row ? row.item.seq?.first : undefined
    return first !== undefined && first <= seq
  })
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
