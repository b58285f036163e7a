/** All sessions, first those that need the reader. */
import { useRef } from 'preact/hooks'
import { Options } from '../cards/permission-card.tsx'
import { ago, words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { StateMark } from '../page/controls.tsx'
import { Icon } from '../page/icons.tsx'
import type { App } from '../sessions/app.ts'
import { GROUPS, type SessionRow, fits, groupOf, grouped, shortPath } from '../sessions/groups.ts'

/** More are shown when the reader asks, so that ten thousand cost no more than these. */
const FIRST_ROWS = 60

export function SessionList({ app }: { readonly app: App }) {
  const { newSession, searchHint, filterHint, sessions, none, noneFits, showAllSessions } = words()
  const filter = app.router.filter.value
  const all = app.rows.value
  const rows = all.filter((row) => fits(row, filter)).slice(0, FIRST_ROWS)
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
          <input
            type="search"
            aria-label={filterHint}
            placeholder={filterHint}
            value={filter.text}
            onInput={({ currentTarget }) => app.router.narrow({ text: currentTarget.value })}
          />
          <GroupTabs app={app} rows={all} />
        </div>
      )}
      <div class="groups">
        {grouped(rows).map(({ group, rows: own }) => (
          <section key={group} aria-label={words().groups[group]}>
            <h2 class={group}>
              {words().groups[group]} <span class="number">{all.filter((row) => groupOf(row) === group).length}</span>
            </h2>
            <ul>
              {own.map((row) => (
                <SessionItem key={row.sessionId} app={app} row={row} />
              ))}
            </ul>
          </section>
        ))}
        {app.listed.value !== undefined && rows.length === 0 && (
          <p class="empty">
            {all.length === 0 ? none : noneFits}{' '}
            {all.length > 0 && (
              <button type="button" class="quiet" onClick={() => app.router.narrow({ text: '', group: '' })}>
                {showAllSessions}
              </button>
            )}
          </p>
        )}
      </div>
    </nav>
  )
}

function GroupTabs({ app, rows }: { readonly app: App; readonly rows: readonly SessionRow[] }) {
  const { all, short, groups } = words()
  const present = app.router.filter.value.group
  const tabs = GROUPS.filter((group) => group !== 'rest').map((group) => {
    const count = rows.filter((row) => groupOf(row) === group).length
    return { group, count, label: short[group], name: groups[group] }
  })
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

const STATE_OF = { waits: 'waiting', working: 'working', broken: 'interrupted', unread: 'idle', rest: 'idle' } as const

function SessionItem({ app, row }: { readonly app: App; readonly row: SessionRow }) {
  const ref = useRef<HTMLAnchorElement>(null)
  const place = app.router.place.value
  const isHere = place.screen === 'session' && place.id === row.sessionId
  const group = groupOf(row)
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
        <StateMark phase={row.phase === 'closed' ? 'closed' : STATE_OF[group]} />
        <span class="names">
          <span class="title">
            {row.unread === true && <span class="dot" role="img" aria-label={words().unread} />}
            {title === '' ? words().untitled : spelledOut(title)}
          </span>
          <span class="soft path" title={row.cwd}>
            {row.waiting === undefined ? spelledOut(shortPath(row.cwd)) : spelledOut(row.waiting.title ?? '')}
          </span>
        </span>
        {row.updatedAt !== undefined && row.updatedAt !== null && (
          <time class="soft">{ago(Date.parse(row.updatedAt))}</time>
        )}
      </a>
      {row.waiting !== undefined && !isHere && !app.mayNot('approve') && (
        <Options options={row.waiting.options} answer={(optionId) => app.answer(row, optionId)} />
      )}
    </li>
  )
}
