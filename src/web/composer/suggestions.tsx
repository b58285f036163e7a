/** What could stand where one is writing: commands and their arguments, and files behind an `@`. */
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Command } from '../../client/incoming/updates.ts'
import { spelledOut } from '../markdown/invisible.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { words } from '../i18n/language.ts'

const MAX_SUGGESTIONS = 8

export interface Suggestion {
  readonly label: string
  readonly detail: string
  /** The draft with it. */
  readonly draft: string
  /** The file that it names. */
  readonly file?: { readonly name: string; readonly path: string }
}

/** What is being written, by what a suggestion would replace. Pure. */
export type Written =
  | { readonly kind: 'command'; readonly typed: string }
  | { readonly kind: 'argument'; readonly command: string; readonly typed: string }
  | { readonly kind: 'file'; readonly typed: string; readonly from: number }
  | { readonly kind: 'text' }

export function written(draft: string, caret: number): Written {
  const before = draft.slice(0, caret)
  const file = /(?:^|[\s(])@([^\s@]*)$/u.exec(before)
  if (file !== null) return { kind: 'file', typed: file[1] ?? '', from: caret - (file[1]?.length ?? 0) }
  const command = /^\/(\S*)$/u.exec(draft)
  if (command !== null) return { kind: 'command', typed: command[1] ?? '' }
  const argument = /^\/(\S+)\s+([^\n]*)$/u.exec(draft)
  if (argument !== null && caret === draft.length)
    return { kind: 'argument', command: argument[1] ?? '', typed: argument[2] ?? '' }
  return { kind: 'text' }
}

/** Commands that begin so, then those that have it somewhere. Pure. */
export function fitting(commands: readonly Command[], typed: string): readonly Command[] {
  const wanted = typed.toLowerCase()
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted))
  const has = commands.filter((one) => !begins.includes(one) && one.name.toLowerCase().includes(wanted))
  return [...begins, ...has].slice(0, MAX_SUGGESTIONS)
}

export interface Suggestions {
  readonly all: readonly Suggestion[]
  readonly active: number
  /** Up or down. */
  move(by: number): void
  close(): void
}

/** Answers that come when something else is written are dropped. */
export function useSuggestions(session: OpenSession, draft: string, caret: number): Suggestions {
  const place = written(draft, caret)
  const [asked, setAsked] = useState<{ readonly for: string; readonly found: readonly Suggestion[] }>()
  const [chosen, setChosen] = useState({ for: '', at: 0 })
  const [closedFor, setClosedFor] = useState<string>()
  const key = `${caret} ${draft}`
  useEffect(() => {
    if (place.kind !== 'file' && place.kind !== 'argument') return undefined
    const wanted = new AbortController()
    void find(session, { draft, place, wanted: wanted.signal }, (found) => setAsked({ for: key, found }))
    return () => wanted.abort()
  }, [key])
  // What was found for the word as it was is shown until the next answer comes.
  const isSameWord = asked !== undefined && (asked.for === key || place.kind === 'file')
  const all = place.kind === 'command' ? commandsFor(session, place.typed) : isSameWord ? asked.found : []
  /** What was chosen for something else that was written does not count. */
  const activeOf = (one: typeof chosen): number => (one.for === key ? Math.min(one.at, Math.max(0, all.length - 1)) : 0)
  return {
    all: closedFor === draft || place.kind === 'text' ? [] : all,
    active: activeOf(chosen),
    move: (by) =>
      setChosen((before) => ({ for: key, at: (activeOf(before) + by + all.length) % Math.max(1, all.length) })),
    close: () => setClosedFor(draft),
  }
}

function commandsFor(session: OpenSession, typed: string): readonly Suggestion[] {
  return fitting(session.talk.commands.value, typed).map(({ name, description }) => ({
    label: `/${name}`,
    detail: description ?? '',
    draft: `/${name} `,
  }))
}

interface Finding {
  readonly draft: string
  readonly place: Extract<Written, { readonly kind: 'file' | 'argument' }>
  /** Aborts when something else is written. */
  readonly wanted: AbortSignal
}

/** While the server still reads a large directory, or knows it only as it was before the reader asked, it is asked again. */
const AGAIN_MS = 300

async function find(
  session: OpenSession,
  finding: Finding,
  tell: (found: readonly Suggestion[]) => void,
): Promise<void> {
  const { draft, place, wanted } = finding
  try {
    const begun = Date.now()
    for (let isComplete = false; !isComplete && !wanted.aborted;) {
      const found =
        place.kind === 'argument'
          ? await argumentsFor(session, draft, place)
          : await filesFor(session, draft, { ...place, begun })
      if (wanted.aborted) return
      tell(found.all)
      isComplete = found.isComplete
      if (!isComplete) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  } catch {
    // Without suggestions one writes on.
    if (!wanted.aborted) tell([])
  }
}

interface FoundSuggestions {
  readonly all: readonly Suggestion[]
  readonly isComplete: boolean
}

async function argumentsFor(
  session: OpenSession,
  draft: string,
  place: Extract<Written, { kind: 'argument' }>,
): Promise<FoundSuggestions> {
  const { value, values } = await session.complete(place.command, place.typed)
  const kept = draft.slice(0, draft.length - value.length)
  const all = values.slice(0, MAX_SUGGESTIONS).map((one) => ({ label: one, detail: '', draft: `${kept}${one} ` }))
  return { all, isComplete: true }
}

async function filesFor(
  session: OpenSession,
  draft: string,
  place: Extract<Written, { kind: 'file' }> & { readonly begun: number },
): Promise<FoundSuggestions> {
  const [before, after] = [draft.slice(0, place.from), draft.slice(place.from + place.typed.length)]
  const { files: found, isComplete, age } = await session.files(place.typed, MAX_SUGGESTIONS)
  const isNow = age <= Date.now() - place.begun
  const all = found.map((file) => ({
    label: file.name,
    detail: '',
    file,
    draft: `${before}${file.name}${after === '' ? ' ' : after}`,
  }))
  return { all, isComplete: isComplete && isNow }
}

interface ListProps {
  readonly suggestions: Suggestions
  readonly take: (suggestion: Suggestion) => void
  readonly field: RefObject<HTMLTextAreaElement | null>
}

export const SUGGESTIONS = 'suggestions'

export function SuggestionList({ suggestions: { all, active }, take, field }: ListProps) {
  useEffect(() => {
    document.querySelector(`#${SUGGESTIONS} [aria-selected=true]`)?.scrollIntoView({ block: 'nearest' })
  }, [active])
  if (all.length === 0) return null
  return (
    <ul class="commands" id={SUGGESTIONS} role="listbox" aria-label={words().suggestions}>
      {all.map((suggestion, index) => (
        <li
          key={suggestion.label}
          id={`${SUGGESTIONS}-${index}`}
          role="option"
          aria-selected={index === active}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => {
            take(suggestion)
            field.current?.focus()
          }}
        >
          <code>{spelledOut(suggestion.label)}</code> <span class="soft">{spelledOut(suggestion.detail)}</span>
        </li>
      ))}
    </ul>
  )
}
