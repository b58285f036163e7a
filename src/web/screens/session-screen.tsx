/** One session: what was said, what is asked, and where one writes. */
import { useEffect, useState } from 'preact/hooks'
import { QuestionDock } from '../cards/permission-card.tsx'
import { Composer } from '../composer/composer.tsx'
import { words } from '../i18n/language.ts'
import { lazily } from '../page/lazily.tsx'
import type { App } from '../sessions/app.ts'
import { PlanLine } from '../thread/plan-line.tsx'
import { Talk } from '../thread/talk.tsx'
import { SessionHeader } from './session-header.tsx'

const Outline = lazily(async () => (await import('../find/outline.tsx')).Outline)

interface Props {
  readonly app: App
  readonly id: string
  /** The entry that is looked at. */
  readonly seq: number | undefined
  /** What is looked for. */
  readonly find: string | undefined
}

export function SessionScreen({ app, id, seq, find }: Props) {
  // A session that was forgotten is opened again.
  const session = app.current.value ?? app.session(id, seq)
  const opening = session?.opening.value ?? 'opening'
  return (
    <main class="session" id="main" tabIndex={-1}>
      {session !== undefined && <SessionHeader app={app} session={session} />}
      {typeof opening === 'object' ? (
        <p class="trouble block" role="alert">
          {opening.failure}{' '}
          <button type="button" class="second" onClick={() => void session?.load(seq)}>
            {words().tryAgain}
          </button>
        </p>
      ) : session === undefined || opening === 'opening' ? (
        <Loading app={app} isUnknown={app.listed.value !== undefined && session === undefined} />
      ) : (
        <Talk key={session.key} app={app} session={session} seq={seq} find={find} />
      )}
      {session?.showsOutline.value === true && <Outline app={app} session={session} />}
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
function Loading({ app, isUnknown }: { readonly app: App; readonly isUnknown: boolean }) {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isUnknown) return <p class="loading soft">{isSlow ? words().loading : ''}</p>
  return (
    <p class="loading soft">
      {words().noSuch}{' '}
      <button type="button" class="second" onClick={() => app.router.go({ screen: 'sessions' }, 'replace')}>
        {words().sessions}
      </button>
    </p>
  )
}
