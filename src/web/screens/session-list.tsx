/** All sessions, first those that need the reader. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Options } from '../cards/permission-card.tsx'
import { ago, count, words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { StateMark } from '../page/controls.tsx'
import { Icon } from '../page/icons.tsx'
import { memo } from '../page/memo.ts'
import type { App } from '../sessions/app.ts'
import { GROUPS, type SessionRow, type Shown, groupOf, shortPath, shownOf } from '../sessions/groups.ts'

/** More are shown when the reader asks, so that ten thousand cost no more than these. */
const FIRST_ROWS = 60

/** From here on a list is long enough to be searched by a word. */
const MANY = 8

interface Props {
  readonly app: App
  /** What makes the first session. */
  readonly first: ComponentChildren
}

export function SessionList({ app, first }: Props) {
  const { newSession, searchHint, filterHint, sessions, none, noneFits, showAllSessions, moreSessions } = words()
  const filter = app.router.filter.value
  const all = app.rows.value
  const [most, setMost] = useState(FIRST_ROWS)
  // Another filter begins from its beginning.
  useEffect(() => setMost(FIRST_ROWS), [filter.text, filter.group])
  const shown = shownOf(all, filter, most)
  return (
    <nav class="list" aria-label={sessions}>
      <div class="list-head">
        <button type="button" class="second search" onClick={() => app.router.go({ screen: 'search', query: '' })}>
          <Icon name="search" />
          <span>{searchHint}</span>
          <kbd class="only-wide">Ctrl K</kbd>
        </button>
        <button type="button" class="new" onClick={() => app.router.go({ screen: 'new' })}>
          <Icon name="plus" />
          <span>{newSession}</span>
        </button>
      </div>
      {all.length > 0 && (
        <div class="filters">
          {(all.length > MANY || filter.text !== '') && (
            <input
              type="search"
              aria-label={filterHint}
              placeholder={filterHint}
              value={filter.text}
              onInput={({ currentTarget }) => app.router.narrow({ text: currentTarget.value })}
            />
          )}
          <GroupTabs app={app} counts={shown.counts} />
        </div>
      )}
      <div class="groups">
        {shown.groups.map(({ group, rows }) => (
          <section key={group} aria-label={words().groups[group]}>
            <h2 class={group}>
              {words().groups[group]} <span class="number">{shown.counts[group]}</span>
            </h2>
            <ul>
              {rows.map((row) => (
                <SessionItem key={row.sessionId} app={app} row={row} age={ageOf(row)} />
              ))}
            </ul>
          </section>
        ))}
        {shown.more > 0 && (
          <button type="button" class="quiet wide" onClick={() => setMost(most + FIRST_ROWS)}>
            {moreSessions(count(shown.more))}
          </button>
        )}
        {app.listed.value !== undefined && shown.groups.length === 0 && (
          <p class="empty">
            {all.length === 0 ? none : noneFits}{' '}
            {all.length > 0 && (
              <button type="button" class="quiet" onClick={() => app.router.narrow({ text: '', group: '' })}>
                {showAllSessions}
              </button>
            )}
          </p>
        )}
        {app.listed.value !== undefined && all.length === 0 && first}
      </div>
    </nav>
  )
}

function GroupTabs({ app, counts }: { readonly app: App; readonly counts: Shown['counts'] }) {
  const { all, short, groups } = words()
  const present = app.router.filter.value.group
  const tabs = GROUPS.filter((group) => group !== 'rest').map((group) => ({
    group,
    count: counts[group],
    label: short[group],
    name: groups[group],
  }))
  if (present === '' && tabs.every(({ count }) => count === 0)) return null
  return (
    <div class="tabs" role="group">
      <button type="button" class="tab" aria-pressed={present === ''} onClick={() => app.router.narrow({ group: '' })}>
        {all}
      </button>
      {tabs
        .filter(({ group, count }) => count > 0 || present === group)
        .map(({ group, count, label, name }) => (
          <button
            key={group}
            type="button"
            class={`tab ${group}`}
            aria-pressed={present === group}
            title={name}
            onClick={() => app.router.narrow({ group })}
          >
            {label} <span class="number">{count}</span>
          </button>
        ))}
    </div>
  )
}

function ageOf({ updatedAt }: SessionRow): string {
  return updatedAt === undefined || updatedAt === null ? '' : ago(Date.parse(updatedAt))
}

const STATE_OF = { waits: 'waiting', working: 'working', unread: 'idle', rest: 'idle' } as const

function markOf(row: SessionRow): string {
  if (row.phase === 'closed') return 'closed'
  const group = groupOf(row)
  return group === 'broken' ? (row.lastEnd?.stopReason ?? 'interrupted') : STATE_OF[group]
}

interface ItemProps {
  readonly app: App
  readonly row: SessionRow
  /** When it last changed, in words. */
  readonly age: string
}

/** Drawn again only when it says something else: a long list changes with every busy session. */
const SessionItem = memo(({ app, row, age }: ItemProps) => {
  const ref = useRef<HTMLAnchorElement>(null)
  const place = app.router.place.value
  const isHere = place.screen === 'session' && place.id === row.sessionId
  const title = row.title ?? ''
  return (
    <li class={isHere ? 'here' : undefined} data-session={row.sessionId}>
      <a
        ref={ref}
        href={`./?session=${encodeURIComponent(row.sessionId)}`}
        aria-current={isHere ? 'page' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          app.router.go({ screen: 'session', id: row.sessionId, seq: undefined })
        }}
      >
        <StateMark phase={markOf(row)} />
        <span class="names">
          <span class="title">
            {row.unread === true && <span class="dot" role="img" aria-label={words().unread} />}
            <bdi>{title === '' ? words().untitled : spelledOut(title)}</bdi>
          </span>
          <span class="soft path" title={row.cwd}>
            {row.waiting === undefined ? spelledOut(shortPath(row.cwd)) : spelledOut(row.waiting.title ?? '')}
          </span>
        </span>
        {age !== '' && <time class="soft">{age}</time>}
      </a>
      {row.waiting !== undefined && !isHere && !app.mayNot('approve') && (
        <Options options={row.waiting.options} answer={(optionId) => app.answer(row, optionId)} />
      )}
    </li>
  )
})
