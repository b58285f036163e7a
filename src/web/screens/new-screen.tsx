/** A new session: where it works and what it is asked first, in one form. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { IconButton } from '../page/controls.tsx'
import type { App } from '../sessions/app.ts'
import { keep, keptText } from '../sessions/kept.ts'
import { sentenceOf } from '../sessions/error-sentences.ts'

export function NewScreen({ app }: { readonly app: App }) {
  const recent = useMemo(
    () => [...new Set((app.listed.value ?? []).map(({ cwd }) => cwd))].slice(0, 50),
    [app.listed.value],
  )
  const [cwd, setCwd] = useState<string>()
  const [prompt, setPrompt] = useState(keptText('draft.new'))
  const [isStarting, setStarting] = useState(false)
  const [trouble, setTrouble] = useState('')
  const place = usePlace(app, recent.length === 0)
  // It stays: what others do meanwhile must not change where a session is about to start.
  const suggested = useRef<string | undefined>(undefined)
  suggested.current ??= recent[0] ?? place
  const directory = cwd ?? suggested.current ?? ''
  const below = useDirectories(app, cwd ?? '')
  const { newSession, directory: directoryLabel, directoryHint, start, starting, back } = words()
  const submit = (event: Event): void => {
    event.preventDefault()
    // A second click makes no second session.
    if (isStarting) return
    setStarting(true)
    setTrouble('')
    app.create(directory.trim(), prompt).then(
      () => keep('draft.new', undefined),
      (error: unknown) => {
        setTrouble(sentenceOf(error))
        setStarting(false)
      },
    )
  }
  return (
    <main class="screen" id="main" tabIndex={-1}>
      <header class="screen-head">
        <IconButton icon="back" label={back} onPress={() => app.router.back()} />
        <h1>{newSession}</h1>
      </header>
      <form class="form" onSubmit={submit}>
        <label for="directory">{directoryLabel}</label>
        <input
          id="directory"
          list="recent"
          required
          autocomplete="off"
          spellcheck={false}
          placeholder={directoryHint}
          value={directory}
          aria-describedby={trouble === '' ? undefined : 'directory-trouble'}
          aria-invalid={trouble !== ''}
          // A suggestion that came now would stand before what is about to be written.
          onFocus={({ currentTarget }) => setCwd(currentTarget.value)}
          onInput={({ currentTarget }) => setCwd(currentTarget.value)}
        />
        <datalist id="recent">
          {[...new Set([...below, ...recent])].map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        {trouble !== '' && (
          <p class="trouble" id="directory-trouble" role="alert">
            {trouble}
          </p>
        )}
        <FirstPrompt text={prompt} write={setPrompt} submit={submit} />
        <button type="submit" disabled={isStarting || directory.trim() === ''}>
          {isStarting ? starting : start}
        </button>
      </form>
    </main>
  )
}

interface FirstPromptProps {
  readonly text: string
  readonly write: (text: string) => void
  readonly submit: (event: Event) => void
}

function FirstPrompt({ text, write, submit }: FirstPromptProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  // The directory is there already, as a rule.
  useEffect(() => field.current?.focus(), [])
  return (
    <>
      <label for="first-prompt">{words().firstPrompt}</label>
      <textarea
        id="first-prompt"
        ref={field}
        rows={6}
        value={text}
        onInput={({ currentTarget }) => {
          write(currentTarget.value)
          keep('draft.new', currentTarget.value)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
        }}
      />
    </>
  )
}

/** Where a first session may work, where the server offers something. */
function usePlace(app: App, isFirst: boolean): string | undefined {
  const [place, setPlace] = useState<string>()
  const hasList = app.listed.value !== undefined
  useEffect(() => {
    if (!hasList || !isFirst) return
    app.client?.directories(undefined, '').then(
      ([first]) => setPlace(first),
      // Without it one writes.
      () => undefined,
    )
  }, [hasList, isFirst])
  return place
}

/** Directories of the server that go on as it is written, where it offers them. Late answers are dropped. */
function useDirectories(app: App, typed: string): readonly string[] {
  const [found, setFound] = useState<readonly string[]>([])
  // One may write before the page is connected.
  const isOn = app.dialling.line.value.kind === 'on'
  useEffect(() => {
    const end = typed.lastIndexOf('/')
    if (!typed.startsWith('/')) return undefined
    let isWanted = true
    app.client?.directories(typed.slice(0, end) || '/', typed.slice(end + 1)).then(
      (directories) => isWanted && setFound(directories),
      // Without suggestions one writes on.
      () => isWanted && setFound([]),
    )
    return () => {
      isWanted = false
    }
  }, [typed, isOn])
  return found
}
