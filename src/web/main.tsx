/** Where the page begins. */
import { render } from 'preact'
import { takeCode } from './connection/pairing.ts'
import { preferred, speak } from './i18n/language.ts'
import { rememberList } from './offline/last-list.ts'
import { Root } from './screens/root.tsx'
import { App } from './sessions/app.ts'
import { kept } from './sessions/kept.ts'

// Before anything else reads the address.
const code = takeCode()
await speak(preferred(kept('language'), navigator.languages))
const app = new App()
const element = document.querySelector('#app')
rememberList(app)
if (element !== null) render(<Root app={app} code={code} />, element)
await app.start()
await app.hasList
await nextPaint()
// What most readers open next comes while they look at the list.
void import('./screens/session-screen.tsx')
if (app.router.filter.peek().share === '') {
  const { keepPage } = await import('./offline/install.ts')
  void keepPage(
    () => (app.isOutdated.value = true),
    (id) => app.router.go({ screen: 'session', id, seq: undefined }),
  )
}

/** A page that is not looked at paints nothing. */
function nextPaint(): Promise<void> {
  if (document.visibilityState !== 'visible') return Promise.resolve()
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
}
