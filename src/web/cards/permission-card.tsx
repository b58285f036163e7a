/** A question of an agent, with every option by its own name and in its own order, and all of what is to be allowed. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PermissionOption, ToolCallUpdate } from '../../client/incoming/updates.ts'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { Plain } from '../markdown/plain.tsx'
import { lazily } from '../page/lazily.tsx'
import type { OpenSession, Question } from '../sessions/open-session.ts'
import { LazyDiff } from '../tools/lazy-diff.tsx'

const InquiryDock = lazily(async () => (await import('./inquiry-dock.tsx')).InquiryDock)

/** An Enter that was meant for something else is no answer. */
const DEAF_MS = 500
const IDLE_MS = 1_000
const FIRST_LINES = 8

export function QuestionDock({ session }: { readonly session: OpenSession }) {
  const [at, setAt] = useState(0)
  const questions = session.questions.value
  const question = questions[Math.min(at, questions.length - 1)]
  const [inquiry] = session.inquiries.value
  if (question === undefined) return inquiry === undefined ? null : <InquiryDock key={inquiry.key} inquiry={inquiry} />
  return (
    <div class="dock">
      <PermissionCard
        key={question.key}
        question={question}
        place={questions.length > 1 ? words().asks(questions.indexOf(question) + 1, questions.length) : undefined}
        next={() => setAt((questions.indexOf(question) + 1) % questions.length)}
        mayFocus={session.draft.text.value === ''}
      />
    </div>
  )
}

interface CardProps {
  readonly question: Question
  readonly place: string | undefined
  readonly next: () => void
  readonly mayFocus: boolean
}

function PermissionCard({ question, place, next, mayFocus }: CardProps) {
  const ref = useRef<HTMLDivElement>(null)
  const shownAt = useRef(performance.now())
  useFocusWhenIdle(ref, mayFocus)
  const { toolCall, options } = question
  const title = toolCall.title ?? words().permission
  const pressed = (event: KeyboardEvent): void => {
    const isDeaf = performance.now() - shownAt.current < DEAF_MS
    if ((event.key === 'Enter' || event.key === ' ') && isDeaf) event.preventDefault()
    const option = /^[1-9]$/u.test(event.key) && !hasModifier(event) ? options[Number(event.key) - 1] : undefined
    if (option === undefined || isDeaf) return
    event.preventDefault()
    void question.answer(option.optionId)
  }
  return (
    <div
      class="card"
      role="group"
      aria-label={spelledOut(title)}
      tabIndex={-1}
      ref={ref}
      onKeyDown={pressed}
      data-question
    >
      <p class="card-head">
        <span class="state waiting" aria-hidden="true">
          ?
        </span>
        <strong>
          <Plain text={isCommandAlone(title, toolCall) ? (words().kinds[toolCall.kind ?? ''] ?? title) : title} />
        </strong>
        {place !== undefined && (
          <button type="button" class="quiet" aria-label={words().nextQuestion} onClick={next}>
            {place} ›
          </button>
        )}
      </p>
      <Subject call={toolCall} />
      <Options options={options} answer={(id) => question.answer(id)} areKeys />
    </div>
  )
}

function hasModifier(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey
}

/** The focus does not leave a field that is being written in. */
function useFocusWhenIdle(ref: { readonly current: HTMLDivElement | null }, mayFocus: boolean): void {
  useEffect(() => {
    if (!mayFocus) return undefined
    const focus = (): void => {
      const active = document.activeElement
      const isIdle =
        active === null || active === document.body || (active instanceof HTMLTextAreaElement && active.value === '')
      if (isIdle) ref.current?.focus({ preventScroll: true })
    }
    let timer = setTimeout(focus, IDLE_MS)
    const again = (): void => {
      clearTimeout(timer)
      timer = setTimeout(focus, IDLE_MS)
    }
    addEventListener('keydown', again, { capture: true })
    return () => {
      clearTimeout(timer)
      removeEventListener('keydown', again, { capture: true })
    }
  }, [mayFocus])
}

export function Options({
  options,
  answer,
  areKeys = false,
}: {
  readonly options: readonly PermissionOption[]
  /** Resolves when it is counted, or cannot be. */
  readonly answer: (optionId: string) => Promise<void>
  readonly areKeys?: boolean
}) {
  const [given, setGiven] = useState<string>()
  return (
    <div class="options">
      {options.map(({ optionId, name, kind }, index) => (
        <button
          key={optionId}
          type="button"
          class={kind.startsWith('reject') ? 'second' : index === 0 ? '' : 'second strong'}
          disabled={given !== undefined}
          onClick={() => {
            setGiven(optionId)
            void answer(optionId).finally(() => setGiven(undefined))
          }}
        >
          {areKeys && index < 9 && <kbd>{index + 1}</kbd>}
          <Plain text={name} />
        </button>
      ))}
    </div>
  )
}

/** The command, the arguments, the diff: whole, however long. */
function Subject({ call }: { readonly call: ToolCallUpdate }) {
  const diffs = (call.content ?? []).filter(({ type }) => type === 'diff')
  const texts = (call.content ?? []).flatMap(({ content }) => (content?.text === undefined ? [] : [content.text]))
  const command = commandOf(call.rawInput)
  return (
    <div class="subject">
      {command !== undefined && <Long text={command} isCommand={isCommand(call.rawInput)} />}
      {texts.map((text, index) => (
        <Long key={index} text={text} isCommand={false} />
      ))}
      {diffs.map(({ path = '', oldText, newText = '' }, index) => (
        <LazyDiff key={index} path={path} before={oldText ?? ''} after={newText} />
      ))}
      {call.locations?.map(({ path }) => (
        <p key={path} class="location">
          <Plain text={path} />
        </p>
      ))}
    </div>
  )
}

function Long({ text, isCommand }: { readonly text: string; readonly isCommand: boolean }) {
  const [isAll, setAll] = useState(false)
  const lines = text.split('\n')
  const isLong = lines.length > FIRST_LINES || text.length > 1_200
  const shown = isLong && !isAll ? lines.slice(0, FIRST_LINES).join('\n').slice(0, 1_200) : text
  return (
    <>
      <pre class={isCommand ? 'command' : undefined} tabIndex={0}>
        <Plain text={shown} />
      </pre>
      {isLong && (
        <button type="button" class="quiet" onClick={() => setAll(!isAll)}>
          {isAll
            ? words().showLess
            : lines.length > FIRST_LINES
              ? words().showLines(lines.length - FIRST_LINES)
              : words().showAll}
        </button>
      )}
    </>
  )
}

/** Then the command below says all, and once is enough. */
function isCommandAlone(title: string, { rawInput }: ToolCallUpdate): boolean {
  return isCommand(rawInput) && title.replaceAll('`', '').trim() === commandOf(rawInput)?.trim()
}

function isCommand(input: unknown): boolean {
  return typeof (input as { readonly command?: unknown } | null)?.command === 'string'
}

function commandOf(input: unknown): string | undefined {
  if (input === undefined || input === null) return undefined
  const { command, ...others } = input as { readonly command?: unknown }
  if (typeof command === 'string')
    return Object.keys(others).length === 0 ? command : `${command}\n${JSON.stringify(others, null, 2)}`
  return typeof input === 'string' ? input : JSON.stringify(input, null, 2)
}
