/** Keys for who uses no mouse. Single keys do nothing while one writes. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import type { App } from '../sessions/app.ts'
import { shownOf } from '../sessions/groups.ts'

export function useShortcuts(app: App): ComponentChildren {
  const [isListed, setListed] = useState(false)
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.isComposing || event.defaultPrevented) return
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return app.router.go({ screen: 'search', query: '' })
      }
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') return find(app, event)
      if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return
      if (findsSoon(app, event)) return
      if (event.key === '?') return setListed((before) => !before)
      if (event.key === 'Escape') setListed(false)
      if (run(app, event.key)) event.preventDefault()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [app])
  if (!isListed) return null
  const { shortcuts, shortcutRows, close } = words()
  return (
    <div class="sheet" role="dialog" aria-label={shortcuts}>
      <h2>{shortcuts}</h2>
      <dl>
        {shortcutRows.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" autoFocus onClick={() => setListed(false)}>
        {close}
      </button>
    </div>
  )
}

function writes(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/u.test(target.tagName)
}

/** True when the key means something. */
function run(app: App, key: string): boolean {
  switch (key) {
    case '/':
      app.router.go({ screen: 'search', query: '' })
      return true
    case 'c':
      app.router.go({ screen: 'new' })
      return true
    case 'j':
    case 'k':
      step(app, key === 'j' ? 1 : -1)
      return true
    case 'w': {
      const id = app.nextThatWaits()
      if (id !== undefined) app.router.go({ screen: 'session', id, seq: undefined })
      return true
    }
    case 'u':
      if (app.current.value !== undefined) void app.markUnread(app.current.value.id)
      return app.current.value !== undefined
    case 'i':
      if (app.current.value !== undefined) app.current.value.draft.wantsFocus.value += 1
      return app.current.value !== undefined
    default:
      return false
  }
}

/** In the document is only what is in view, so the browser would find little. Pressed again, it looks for itself. */
function find(app: App, event: KeyboardEvent): void {
  const place = app.router.place.value
  if (place.screen !== 'session' || place.find !== undefined) return
  event.preventDefault()
  app.router.go({ ...place, find: '' }, 'replace')
}

/** True for what is typed for the find bar before it is there. */
function findsSoon(app: App, event: KeyboardEvent): boolean {
  const place = app.router.place.value
  if (place.screen !== 'session' || place.find === undefined || document.querySelector('.find') !== null) return false
  if (event.key.length !== 1) return false
  event.preventDefault()
  app.router.go({ ...place, find: place.find + event.key }, 'replace')
  return true
}

function step(app: App, by: number): void {
  const { groups } = shownOf(app.rows.value, app.router.filter.value, Number.POSITIVE_INFINITY)
  const rows = groups.flatMap((group) => group.rows)
  const place = app.router.place.value
  const at = place.screen === 'session' ? rows.findIndex(({ sessionId }) => sessionId === place.id) : -1
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
  if (next !== undefined) app.router.go({ screen: 'session', id: next.sessionId, seq: undefined })
}
