/** Where the reader writes. What was written leaves only when the server has it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { Icon } from '../page/icons.tsx'
import type { App } from '../sessions/app.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { AttachmentList } from './attachment-list.tsx'
import { Chips } from './chips.tsx'
import { QueueView } from './queue-view.tsx'
import { StopButton } from './stop-button.tsx'
import { SUGGESTIONS, type Suggestion, SuggestionList, useSuggestions } from './suggestions.tsx'

const ESC_TWICE_MS = 600
/** What makes the field as high as its text; it is never higher than a third of the view. */
const MIRRORED_CHARS = 5_000

export function Composer({ app, session }: { readonly app: App; readonly session: OpenSession }) {
  const { messageHint, messageLabel, onlyReads } = words()
  const ref = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(0)
  const draft = session.draft.text.value
  const suggestions = useSuggestions(session, draft, caret)
  useEffect(() => {
    if (session.draft.wantsFocus.value > 0) ref.current?.focus()
  }, [session.draft.wantsFocus.value])
  const take = (suggestion: Suggestion): void => {
    session.draft.write(suggestion.draft)
    if (suggestion.file !== undefined) session.draft.mention(suggestion.file)
    setCaret(suggestion.draft.length)
  }
  const pressed = useKeys(session, { take, suggestions })
  if (app.mayNot('prompt'))
    return (
      <div class="composer">
        <p class="soft">{onlyReads}</p>
      </div>
    )
  const hasList = suggestions.all.length > 0
  return (
    <div class="composer" onDragOver={(event) => event.preventDefault()} onDrop={(event) => dropped(session, event)}>
      <QueueView app={app} session={session} />
      <SuggestionList suggestions={suggestions} take={take} field={ref} />
      {session.draft.trouble.value !== '' && (
        <p class="trouble" role="alert">
          {session.draft.trouble.value}
        </p>
      )}
      <AttachmentList session={session} />
      <div class="write">
        <AttachButton session={session} />
        <div class="mirrored" data-text={`${draft.slice(0, MIRRORED_CHARS)} `}>
          <textarea
            ref={ref}
            rows={1}
            aria-label={messageLabel}
            aria-autocomplete="list"
            aria-controls={hasList ? SUGGESTIONS : undefined}
            aria-activedescendant={hasList ? `${SUGGESTIONS}-${suggestions.active}` : undefined}
            placeholder={messageHint}
            value={draft}
            enterkeyhint={isPhone() ? 'enter' : 'send'}
            onInput={({ currentTarget }) => {
              session.draft.write(currentTarget.value)
              setCaret(currentTarget.selectionStart)
            }}
            onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
            onPaste={(event) => pasted(session, event)}
            onKeyDown={pressed}
          />
        </div>
        <SendButtons app={app} session={session} />
      </div>
      <Chips app={app} session={session} />
    </div>
  )
}

function SendButtons({ app, session }: { readonly app: App; readonly session: OpenSession }) {
  const { sendLater, queueIt, send } = words()
  const runs = isRunning(session.phase.value)
  const isOn = app.dialling.line.value.kind === 'on'
  const label = isOn ? (runs ? queueIt : send) : sendLater
  return (
    <div class="buttons">
      {runs && <StopButton session={session} />}
      {(!runs || !session.draft.isEmpty) && (
        <button
          type="button"
          class="send"
          aria-label={label}
          title={label}
          disabled={session.draft.isEmpty}
          onClick={() => session.sendDraft()}
        >
          <Icon name="send" />
        </button>
      )}
    </div>
  )
}

/** Only where the agent takes something. */
function AttachButton({ session }: { readonly session: OpenSession }) {
  const input = useRef<HTMLInputElement>(null)
  const { image, embeddedContext } = session.takes
  if (!image && !embeddedContext) return null
  const { attachFile } = words()
  return (
    <>
      <button
        type="button"
        class="quiet bare"
        aria-label={attachFile}
        title={attachFile}
        onClick={() => input.current?.click()}
      >
        <Icon name="clip" />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={embeddedContext ? undefined : 'image/*'}
        onChange={({ currentTarget }) => {
          void session.draft.attach([...(currentTarget.files ?? [])], session.takes)
          // The same file can be chosen again.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

function pasted(session: OpenSession, event: ClipboardEvent): void {
  const files = [...(event.clipboardData?.files ?? [])]
  if (files.length === 0) return
  event.preventDefault()
  void session.draft.attach(files, session.takes)
}

function dropped(session: OpenSession, event: DragEvent): void {
  event.preventDefault()
  void session.draft.attach([...(event.dataTransfer?.files ?? [])], session.takes)
}

interface Completing {
  readonly take: (suggestion: Suggestion) => void
  readonly suggestions: ReturnType<typeof useSuggestions>
}

function useKeys(session: OpenSession, { take, suggestions }: Completing): (event: KeyboardEvent) => void {
  const escapedAt = useRef(0)
  return (event) => {
    // An input method ends a word with Enter: nothing is sent by it. Some browsers say so only by the code.
    if (event.isComposing || event.keyCode === 229) return
    const runs = isRunning(session.phase.value)
    if (choose(event, suggestions, { take, draft: session.draft.text.value })) return event.preventDefault()
    if (event.key === 'Escape') {
      if (event.timeStamp - escapedAt.current < ESC_TWICE_MS && runs) session.stop()
      escapedAt.current = event.timeStamp
    }
    if (event.key === 'ArrowUp' && session.draft.text.value === '') session.askAgain()
    if (event.key !== 'Enter' || event.shiftKey) return
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault()
      return runs ? session.steerDraft() : session.sendDraft()
    }
    // On a phone the key breaks the line; there is a button to send.
    if (isPhone()) return
    event.preventDefault()
    session.sendDraft()
  }
}

interface Choosing {
  readonly take: (suggestion: Suggestion) => void
  readonly draft: string
}

/** True when the key belongs to the list of suggestions. */
function choose(event: KeyboardEvent, suggestions: Completing['suggestions'], to: Choosing): boolean {
  const suggestion = suggestions.all[suggestions.active]
  if (suggestion === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false
  switch (event.key) {
    case 'ArrowDown':
    case 'ArrowUp':
      suggestions.move(event.key === 'ArrowDown' ? 1 : -1)
      return true
    case 'Escape':
      suggestions.close()
      return true
    case 'Tab':
      to.take(suggestion)
      return true
    case 'Enter':
      // A command that is written whole is sent, and so is one with arguments.
      if (suggestion.draft.trim() === to.draft.trim() || (/^\/\S+\s/u.test(to.draft) && suggestion.file === undefined))
        return false
      to.take(suggestion)
      return true
    default:
      return false
  }
}

function isPhone(): boolean {
  return matchMedia('(pointer: coarse)').matches
}

export function isRunning(phase: string): boolean {
  return phase === 'working' || phase === 'waiting' || phase === 'cancelling' || phase === 'suspended'
}
