/** All prompts of a session, also of what is not loaded, to go to one of them. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { OutlinePrompt } from '../../client/sessions/stored-sessions.ts'
import { clockTime, words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import type { App } from '../sessions/app.ts'
import { sentenceOf } from '../sessions/error-sentences.ts'
import type { OpenSession } from '../sessions/open-session.ts'

const FIRST_CHARS = 160

export function Outline({ app, session }: { readonly app: App; readonly session: OpenSession }) {
  const [prompts, setPrompts] = useState<readonly OutlinePrompt[]>()
  const [trouble, setTrouble] = useState('')
  const last = useRef<HTMLButtonElement>(null)
  const { outline, outlineEmpty, close, loading } = words()
  useEffect(() => void app.client?.outline(session.id).then(setPrompts, (error) => setTrouble(sentenceOf(error))), [])
  // The newest is at the end, as in the conversation.
  useEffect(() => last.current?.focus(), [prompts])
  const shut = (): void => {
    session.showsOutline.value = false
  }
  return (
    <div
      class="sheet outline"
      role="dialog"
      aria-modal="true"
      aria-label={outline}
      onKeyDown={({ key }) => key === 'Escape' && shut()}
    >
      <h2>{outline}</h2>
      {trouble !== '' && <p role="alert">{trouble}</p>}
      {trouble === '' && prompts === undefined && <p class="soft">{loading}</p>}
      {prompts?.length === 0 && <p class="soft">{outlineEmpty}</p>}
      <ol>
        {prompts?.map(({ seq, at, by, text }, index) => (
          <li key={seq}>
            <button
              type="button"
              {...(index === prompts.length - 1 && { ref: last })}
              onClick={() => {
                shut()
                app.router.go({ screen: 'session', id: session.id, seq })
              }}
            >
              <span class="soft">
                {clockTime(at)}
                {by !== undefined && ` · ${spelledOut(by)}`}
              </span>
              <span class="said">{spelledOut(text.slice(0, FIRST_CHARS))}</span>
            </button>
          </li>
        ))}
      </ol>
      <button type="button" class="second" onClick={shut}>
        {close}
      </button>
    </div>
  )
}
