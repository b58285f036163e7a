/** The title of a session, where it works, how it stands, who is here, and what can be done with it. */
import { useEffect, useState } from 'preact/hooks'
import { isRunning } from '../composer/composer.tsx'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { IconButton, Menu, StateMark } from '../page/controls.tsx'
import type { App } from '../sessions/app.ts'
import { agentName, shortPath } from '../sessions/groups.ts'
import type { OpenSession } from '../sessions/open-session.ts'

export function SessionHeader({ app, session }: { readonly app: App; readonly session: OpenSession }) {
  const [isRenaming, setRenaming] = useState(false)
  const row = app.listed.value?.find(({ sessionId }) => sessionId === session.id)
  const title = session.talk.title.value ?? row?.title ?? ''
  const { back, rename, fork, close, delete: remove, more, untitled, findHere, markUnread, exportIt, outline } = words()
  return (
    <header class="session-head">
      <span class="only-narrow">
        <IconButton icon="back" label={back} onPress={() => app.router.back()} />
      </span>
      <div class="names">
        {isRenaming ? (
          <>
            <h1 class="hidden">{title === '' ? untitled : spelledOut(title)}</h1>
            <Rename
              title={title}
              done={(next) => {
                setRenaming(false)
                if (next !== undefined) void app.rename(session.id, next)
              }}
            />
          </>
        ) : (
          <h1>
            <bdi>{title === '' ? untitled : spelledOut(title)}</bdi>
          </h1>
        )}
        <p class="soft meta">
          <span title={session.cwd}>{spelledOut(shortPath(session.cwd))}</span>
          {session.agent.value !== '' && <span> · {spelledOut(agentName(session.agent.value))}</span>}
          <Present session={session} />
        </p>
      </div>
      <Standing session={session} lastEnd={row?.lastEnd?.stopReason} />
      <Menu label={more}>
        <button type="button" onClick={() => setRenaming(true)}>
          {rename}
        </button>
        <button
          type="button"
          onClick={() => app.router.go({ screen: 'session', id: session.id, seq: undefined, find: '' }, 'replace')}
        >
          {findHere}
        </button>
        {app.client?.offers('_parley/outline') === true && (
          <button type="button" onClick={() => (session.showsOutline.value = true)}>
            {outline}
          </button>
        )}
        <button type="button" onClick={() => void app.markUnread(session.id)}>
          {markUnread}
        </button>
        <button type="button" onClick={() => void app.fork(session.id)}>
          {fork}
        </button>
        {!app.mayNot('admin') && app.client?.offers('_parley/access/share') === true && (
          <button type="button" onClick={() => app.router.go({ screen: 'access', share: session.id })}>
            {words().access.share}
          </button>
        )}
        <button type="button" onClick={() => void app.export(session, title === '' ? untitled : title)}>
          {exportIt}
        </button>
        <button type="button" onClick={() => void app.closeSession(session.id)}>
          {close}
        </button>
        <button type="button" class="bad" onClick={() => app.deleteLater(session.id, title)}>
          {remove}
        </button>
      </Menu>
    </header>
  )
}

function Rename({ title, done }: { readonly title: string; readonly done: (title: string | undefined) => void }) {
  const [text, setText] = useState(title)
  const { renameLabel, save, cancel } = words()
  return (
    <form
      class="rename"
      onSubmit={(event) => {
        event.preventDefault()
        done(text.trim() === '' ? undefined : text.trim())
      }}
    >
      <input
        aria-label={renameLabel}
        value={text}
        autoFocus
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key }) => key === 'Escape' && done(undefined)}
      />
      <button type="submit">{save}</button>
      <button type="button" class="second" onClick={() => done(undefined)}>
        {cancel}
      </button>
    </form>
  )
}

/** Other devices and editors on this session. */
function Present({ session }: { readonly session: OpenSession }) {
  const names = session.present.value.filter(({ you }) => !you).map(({ title, name }) => spelledOut(title ?? name))
  if (names.length === 0) return null
  return <span class="present"> · {words().alsoHere(names.join(', '))}</span>
}

/** The state with its word; a timer that steps once a second is all that moves. */
function Standing({ session, lastEnd = '' }: { readonly session: OpenSession; readonly lastEnd?: string | undefined }) {
  const isAsked = session.phase.value === 'suspended' && session.questions.value.length > 0
  const isBroken = session.phase.value === 'idle' && (lastEnd === 'interrupted' || lastEnd === 'error')
  const phase = isAsked ? 'waiting' : isBroken ? lastEnd : session.phase.value
  const since = session.turnSince.value
  const [, setNow] = useState(0)
  useEffect(() => {
    if (since === undefined) return undefined
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [since])
  const phases: Readonly<Record<string, string>> = words().phases
  return (
    <span class={`standing ${phase}`}>
      <StateMark phase={phase} />
      <span class="only-wide">{phases[phase] ?? phase}</span>
      {isRunning(phase) && since !== undefined && <span class="timer">{timer(Date.now() - since)}</span>}
    </span>
  )
}

/** `1:12`. */
function timer(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
