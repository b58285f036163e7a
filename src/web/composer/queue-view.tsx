/** What was sent and waits: on its way to the server, or there behind a turn that runs. */
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { Icon } from '../page/icons.tsx'
import type { App } from '../sessions/app.ts'
import type { OpenSession } from '../sessions/open-session.ts'

export function QueueView({ app, session }: { readonly app: App; readonly session: OpenSession }) {
  const { sending, unsent, withdraw, edit, now, queued } = words()
  const isOn = app.dialling.line.value.kind === 'on'
  const waiting = session.queue.value
  const onTheWay = session.prompts.sending.value
  if (waiting.length + onTheWay.length === 0) return null
  return (
    <ul class="queue" aria-label={queued}>
      {waiting.map(({ promptId, text }) => (
        <li key={promptId}>
          <Icon name="clock" />
          <span class="text">
            <bdi>{spelledOut(text)}</bdi>
          </span>
          {session.prompts.isOurs(promptId) && (
            <button type="button" class="quiet" onClick={() => session.takeBack(promptId)}>
              {edit}
            </button>
          )}
          {(session.prompts.isOurs(promptId) || !app.mayNot('approve')) && (
            <>
              <button type="button" class="quiet" onClick={() => session.withdraw(promptId)}>
                {withdraw}
              </button>
              <button type="button" class="quiet" onClick={() => session.promote(promptId)}>
                {now}
              </button>
            </>
          )}
        </li>
      ))}
      {onTheWay.map(({ promptId, text }) => (
        <li key={promptId} class="soft">
          <span class="text">
            <bdi>{spelledOut(text)}</bdi>
          </span>
          <span>{isOn ? sending : unsent}</span>
          <button type="button" class="quiet" onClick={() => session.takeBack(promptId)}>
            {edit}
          </button>
        </li>
      ))}
    </ul>
  )
}
