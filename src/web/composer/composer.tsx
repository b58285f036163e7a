/** Where the reader writes. What was written leaves only when the server has it. */
import { useEffect, useRef } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { Icon } from '../page/icons.tsx'
import type { App } from '../sessions/app.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { Chips } from './chips.tsx'
import { CommandList, completed } from './command-list.tsx'
import { QueueView } from './queue-view.tsx'
import { StopButton } from './stop-button.tsx'

const ESC_TWICE_MS = 600

export function Composer({ app, session }: { readonly app: App; readonly session: OpenSession }) {
  const ref = useRef<HTMLTextAreaElement>(null)
  const escapedAt = useRef(0)
  const draft = session.draft.value
  const runs = isRunning(session.phase.value)
  const isOn = app.dialling.line.value.kind === 'on'
  useGrowing(ref, draft)
  useEffect(() => {
    if (session.wantsFocus.value > 0) ref.current?.focus()
  }, [session.wantsFocus.value])
  const send = (): void => {
    if (draft.trim() === '') return
    session.write('')
    session.sendNew(draft)
  }
  const pressed = (event: KeyboardEvent): void => {
    // An input method ends a word with Enter: nothing is sent by it. Some browsers say so only by the code.
    if (event.isComposing || event.keyCode === 229) return
    if (event.key === 'Escape') {
      if (event.timeStamp - escapedAt.current < ESC_TWICE_MS && runs) session.stop()
      escapedAt.current = event.timeStamp
    }
    if (event.key === 'ArrowUp' && draft === '') session.askAgain()
    if (event.key === 'Tab' && completed(session, draft) !== undefined && !event.shiftKey) {
      event.preventDefault()
      session.write(completed(session, draft) ?? draft)
    }
    if (event.key !== 'Enter' || event.shiftKey) return
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault()
      if (runs && draft.trim() !== '') session.cancelTurn()
      return send()
    }
    // On a phone the key breaks the line; there is a button to send.
    if (matchMedia('(pointer: coarse)').matches) return
    event.preventDefault()
    send()
  }
  const { messageHint, messageLabel, sendLater, queueIt, send: sendWord } = words()
  const label = isOn ? (runs ? queueIt : sendWord) : sendLater
  return (
    <div class="composer">
      <QueueView session={session} />
      <CommandList session={session} />
      {session.trouble.value !== '' && (
        <p class="trouble" role="alert">
          {session.trouble.value}
        </p>
      )}
      <div class="write">
        <textarea
          ref={ref}
          rows={1}
          aria-label={messageLabel}
          placeholder={messageHint}
          value={draft}
          enterkeyhint={matchMedia('(pointer: coarse)').matches ? 'enter' : 'send'}
          onInput={({ currentTarget }) => session.write(currentTarget.value)}
          onKeyDown={pressed}
        />
        <div class="buttons">
          {runs && <StopButton session={session} />}
          {(!runs || draft.trim() !== '') && (
            <button
              type="button"
              class="send"
              aria-label={label}
              title={label}
              disabled={draft.trim() === ''}
              onClick={send}
            >
              <Icon name="send" />
            </button>
          )}
        </div>
      </div>
      <Chips session={session} />
    </div>
  )
}

export function isRunning(phase: string): boolean {
  return phase === 'working' || phase === 'waiting' || phase === 'cancelling' || phase === 'suspended'
}

/** As high as what is written, up to a third of the view. */
function useGrowing(ref: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  useEffect(() => {
    const { current } = ref
    if (current === null) return
    current.style.height = 'auto'
    current.style.height = `${Math.min(current.scrollHeight, innerHeight / 3)}px`
  }, [text])
}
