/** The last known list of sessions, for when the server cannot be reached. A device that lost its access deletes it. */
import { effect } from '@preact/signals'
import type { App } from '../sessions/app.ts'
import type { SessionRow } from '../sessions/groups.ts'
import { keepLong, keptLong } from '../sessions/kept.ts'

const KEY = 'list'
const MAX_ROWS = 60

export function rememberList(app: App): void {
  // A link to one session is not this browser's own.
  if (app.router.filter.peek().share !== '') return
  const list = keptLong(KEY)
  app.lastList.value = Array.isArray(list) ? list.filter(isRow) : []
  addEventListener('pagehide', () => keepList(app))
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') keepList(app)
  })
  effect(() => {
    if (app.dialling.line.value.kind !== 'stranger') return
    app.listed.value = undefined
    app.lastList.value = []
    keepLong(KEY, undefined)
  })
}

function keepList(app: App): void {
  if (app.dialling.line.peek().kind === 'stranger') return
  const listed = app.listed.peek()
  // What waited may be answered long since.
  const rows = listed
    ?.slice(0, MAX_ROWS)
    .map(({ sessionId, cwd, title, updatedAt, agent }) => ({ sessionId, cwd, title, updatedAt, agent }))
  if (rows !== undefined) keepLong(KEY, rows)
}

function isRow(value: unknown): value is SessionRow {
  const { sessionId, cwd } = (value ?? {}) as Partial<SessionRow>
  return typeof sessionId === 'string' && typeof cwd === 'string'
}
