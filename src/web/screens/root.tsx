/** The page around the screens: one or two panes, what is wrong with the connection, and what screen readers announce. */
import { signal, useComputed } from '@preact/signals'
import { h } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Options } from '../cards/permission-card.tsx'
import { clockTime, language, speak, words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { lazily } from '../page/lazily.tsx'
import type { App } from '../sessions/app.ts'
import { keep } from '../sessions/kept.ts'
import { PairingScreen } from './pairing-screen.tsx'
import { SessionList } from './session-list.tsx'
import { useShortcuts } from './shortcuts.tsx'

const SessionScreen = lazily(async () => (await import('./session-screen.tsx')).SessionScreen)
const NewScreen = lazily(async () => (await import('./new-screen.tsx')).NewScreen)
const NewForm = lazily(async () => (await import('./new-screen.tsx')).NewForm)
const AccessScreen = lazily(async () => (await import('../access/access-screen.tsx')).AccessScreen)
const SearchScreen = lazily(async () => (await import('./search-screen.tsx')).SearchScreen)

const NotifyMenu = lazily(async () => (await import('../offline/notify-menu.tsx')).NotifyMenu)

/** One pane at a time. */
const narrow = matchMedia('(max-width: 47.99rem)')
const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => (isNarrow.value = narrow.matches))

export function Root({ app, code }: { readonly app: App; readonly code: string }) {
  useTitle(app)
  useTold(app)
  const shortcuts = useShortcuts(app)
  const line = app.dialling.line.value
  const isShared = app.router.filter.value.share !== ''
  if (line.kind === 'stranger' && isShared) return <ShareEnded />
  if (line.kind === 'stranger' || (code !== '' && app.listed.value === undefined))
    return <PairingScreen code={code} paired={() => app.dialling.now()} />
  const isAtList = app.router.place.value.screen === 'sessions'
  return (
    <div class="panes">
      <a class="skip" href="#main">
        {words().skip}
      </a>
      {(!isNarrow.value || isAtList) && !isShared && <Side app={app} isMain={isNarrow.value} />}
      {(!isNarrow.value || !isAtList || isShared) && (
        <div class="pane">
          <ConnectionBar app={app} />
          <Screen app={app} />
        </div>
      )}
      <Undo app={app} />
      <Updated app={app} />
      {app.trouble.value !== '' && (
        <p class="toast trouble" role="alert">
          {app.trouble.value}
          <button type="button" class="quiet" onClick={() => (app.trouble.value = '')}>
            {words().close}
          </button>
        </p>
      )}
      {shortcuts}
      <p class="hidden" role="status">
        {app.told.value}
      </p>
    </div>
  )
}

/** The link is over, or was taken back. */
function ShareEnded() {
  const { shareEnded, shareAsk } = words()
  return (
    <main class="pairing" id="main" tabIndex={-1}>
      <img src="icon.svg" alt="" width="48" height="48" />
      <h1>{shareEnded}</h1>
      <p>{shareAsk}</p>
    </main>
  )
}

/** Beside the screen, or on a phone a screen of its own. */
function Side({ app, isMain }: { readonly app: App; readonly isMain: boolean }) {
  const { app: name } = words()
  return h(
    isMain ? 'main' : 'aside',
    { class: 'side', ...(isMain && { id: 'main', tabIndex: -1 }) },
    isMain && <ConnectionBar app={app} />,
    <div class="brand">
      <img src="icon.svg" alt="" width="24" height="24" />
      {isMain ? <h1>{name}</h1> : <span>{name}</span>}
      <span class="tools">
        {mayNotify(app) && <NotifyMenu app={app} />}
        <AccessButton app={app} />
        <LanguageButton />
      </span>
    </div>,
    <SessionList app={app} first={isMain && !app.mayNot('prompt') ? <NewForm app={app} /> : null} />,
  )
}

function Screen({ app }: { readonly app: App }) {
  const place = app.router.place.value
  switch (place.screen) {
    case 'session':
      return <SessionScreen key={place.id} app={app} id={place.id} seq={place.seq} find={place.find} />
    case 'new':
      return <NewScreen app={app} />
    case 'search':
      return <SearchScreen app={app} query={place.query} />
    case 'access':
      return <AccessScreen app={app} share={place.share} />
    case 'sessions':
      return <Waiting app={app} />
  }
}

/** With no session chosen: those that wait, each with its card, ready to answer; else the form of a new one. */
function Waiting({ app }: { readonly app: App }) {
  const waiting = app.waiting.value.filter((row) => row.waiting !== undefined)
  const isKnown = app.listed.value !== undefined || app.isLongOffline.value
  const { waitForYou, nothingChosen, newSession, untitled } = words()
  if (waiting.length === 0 && app.listed.value !== undefined && !app.mayNot('prompt'))
    return (
      <main class="screen" id="main" tabIndex={-1}>
        <header class="screen-head">
          <h1>{newSession}</h1>
        </header>
        {/* Where there is no list to go through by keys, one writes at once. */}
        <NewForm app={app} hasFocus={app.rows.value.length === 0} />
      </main>
    )
  return (
    <main class="screen waiting" id="main" tabIndex={-1}>
      <h1>{waiting.length > 0 ? waitForYou(waiting.length) : isKnown ? nothingChosen : ''}</h1>
      {waiting.map((row) => (
        <section key={row.sessionId} class="card">
          <p class="card-head">
            <span class="state waiting" aria-hidden="true">
              ?
            </span>
            <strong>{spelledOut(row.waiting?.title ?? '')}</strong>
          </p>
          <p>
            <button
              type="button"
              class="quiet"
              onClick={() => app.router.go({ screen: 'session', id: row.sessionId, seq: undefined })}
            >
              {row.title === null || row.title === undefined ? untitled : spelledOut(row.title)}
            </button>
          </p>
          {app.mayNot('approve') ? (
            <p class="soft">{words().mayNotAnswer}</p>
          ) : (
            <Options options={row.waiting?.options ?? []} answer={(optionId) => app.answer(row, optionId)} />
          )}
        </section>
      ))}
    </main>
  )
}

/** A short reconnect is not shown. */
const SILENT_MS = 2_000

/** One at a time: what a server that is away cannot do needs no bar. */
function ConnectionBar({ app }: { readonly app: App }) {
  const line = app.dialling.line.value
  const isShown = app.isLongOffline.value
  useEffect(() => {
    if (line.kind !== 'off') {
      app.isLongOffline.value = false
      return undefined
    }
    const timer = setTimeout(() => (app.isLongOffline.value = true), SILENT_MS)
    return () => clearTimeout(timer)
  }, [line.kind])
  if (line.kind === 'on' && app.isUncertain.value)
    return (
      <p class="offline" role="status">
        {words().uncertain}
      </p>
    )
  if (line.kind !== 'off' || !isShown) return null
  return (
    <p class="offline" role="status">
      {line.isRefused === true ? words().noSocket : words().offline(clockTime(line.since))}
      <button type="button" class="second" onClick={() => app.dialling.now()}>
        {words().tryNow}
      </button>
    </p>
  )
}

function Undo({ app }: { readonly app: App }) {
  const deleting = app.deleting.value
  if (deleting === undefined) return null
  const { deleting: sentence, undo, untitled } = words()
  return (
    <p class="toast" role="status">
      {sentence(deleting.title === '' ? untitled : spelledOut(deleting.title))}
      <button type="button" onClick={() => app.undoDelete()}>
        {undo}
      </button>
    </p>
  )
}

/** Offered and never forced: what is being written stays until the reader reloads. */
function Updated({ app }: { readonly app: App }) {
  if (!app.isOutdated.value) return null
  const { updated, reload } = words()
  return (
    <p class="toast" role="status">
      {updated}
      <button type="button" onClick={() => void reloadPage()}>
        {reload}
      </button>
    </p>
  )
}

async function reloadPage(): Promise<void> {
  const { reload } = await import('../offline/install.ts')
  await reload()
}

/** Where the browser can show something when the page is closed. */
function mayNotify(app: App): boolean {
  return app.listed.value !== undefined && 'serviceWorker' in navigator && 'PushManager' in globalThis
}

/** For who may decide it. */
function AccessButton({ app }: { readonly app: App }) {
  if (app.mayNot('admin') || app.listed.value === undefined || app.client?.offers('_parley/access/list') !== true)
    return null
  return (
    <button type="button" class="quiet" onClick={() => app.router.go({ screen: 'access', share: undefined })}>
      {words().access.title}
    </button>
  )
}

function LanguageButton() {
  const other = language.value === 'en' ? 'zh' : 'en'
  return (
    <button
      type="button"
      class="quiet"
      lang={other}
      onClick={() => {
        keep('language', other)
        void speak(other)
      }}
    >
      {words().language}
    </button>
  )
}

/** The title of the window says how many sessions wait. */
function useTitle(app: App): void {
  const waiting = useComputed(() => app.waiting.value.length).value
  const title = app.title.value
  const name = title === undefined ? words().app : `${spelledOut(title)} · ${words().app}`
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${name}` : name
    document.documentElement.lang = language.value
  }, [waiting, name, language.value])
}

/** Events for screen readers: never the text of messages, only that something happened. */
function useTold(app: App): void {
  const session = app.current.value
  const phase = session?.phase.value
  const [question] = session?.questions.value ?? []
  const isOff = app.isLongOffline.value
  const before = useRef({ phase, isOff, id: session?.id })
  useEffect(() => {
    const { told } = words()
    const was = before.current
    before.current = { phase, isOff, id: session?.id }
    if (isOff !== was.isOff) app.told.value = isOff ? told.offline : told.online
    else if (question !== undefined) app.told.value = told.waits(spelledOut(question.toolCall.title ?? ''))
    else if (session?.id === was.id && phase !== was.phase)
      app.told.value = phase === 'working' ? told.working : phase === 'idle' ? told.finished : app.told.peek()
  }, [phase, isOff, question?.key, session?.id])
}
