/** A new session: where it works and what it is asked first, in one form. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { AgentChoice, AgentChoices } from '../../client/sessions/stored-sessions.ts'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { IconButton } from '../page/controls.tsx'
import type { App } from '../sessions/app.ts'
import { agentName } from '../sessions/groups.ts'
import { keep, keptText } from '../sessions/kept.ts'
import { sentenceOf } from '../sessions/error-sentences.ts'

export function NewScreen({ app }: { readonly app: App }) {
  const { newSession, back } = words()
  return (
    <main class="screen" id="main" tabIndex={-1}>
      <header class="screen-head">
        <IconButton icon="back" label={back} onPress={() => app.router.back()} />
        <h1>{newSession}</h1>
      </header>
      <NewForm app={app} hasFocus />
    </main>
  )
}

interface FormProps {
  readonly app: App
  /** One has come to write in it. */
  readonly hasFocus?: boolean
}

export function NewForm({ app, hasFocus = false }: FormProps) {
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
  suggested.current ??= keptDirectory() ?? recent[0] ?? place
  const directory = cwd ?? suggested.current ?? ''
  const below = useDirectories(app, cwd ?? '')
  const choices = useAgents(app)
  const [agent, setAgent] = useState<string>()
  const { directory: directoryLabel, directoryHint, start, starting } = words()
  const submit = (event: Event): void => {
    event.preventDefault()
    // A second click makes no second session.
    if (isStarting) return
    setStarting(true)
    setTrouble('')
    app.create({ cwd: directory.trim(), firstPrompt: prompt, agent }).then(
      () => keep('draft.new', undefined),
      (error: unknown) => {
        setTrouble(sentenceOf(error))
        setStarting(false)
      },
    )
  }
  return (
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
      <Agents choices={choices} chosen={agent} choose={setAgent} />
      <FirstPrompt text={prompt} write={setPrompt} submit={submit} hasFocus={hasFocus} />
      <button type="submit" disabled={isStarting || directory.trim() === ''}>
        {isStarting ? starting : start}
      </button>
    </form>
  )
}

interface FirstPromptProps {
  readonly text: string
  readonly write: (text: string) => void
  readonly submit: (event: Event) => void
  readonly hasFocus: boolean
}

function FirstPrompt({ text, write, submit, hasFocus }: FirstPromptProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  // The directory is there already, as a rule. Before the form is painted: afterwards the focus may be elsewhere by choice.
  useLayoutEffect(() => {
    if (hasFocus) field.current?.focus()
  }, [])
  return (
    <>
      <label for="first-prompt">{words().firstPrompt}</label>
      <textarea
        id="first-prompt"
        ref={field}
        rows={5}
        placeholder={words().firstPromptHint}
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

interface AgentsProps {
  readonly choices: AgentChoices | undefined
  readonly chosen: string | undefined
  readonly choose: (name: string | undefined) => void
}

/** The offline guide is always there. */
const GUIDE = 'guide'

/** Those that can be started, the usual one first. */
function Agents({ choices, chosen, choose }: AgentsProps) {
  if (choices === undefined) return null
  const { agent, agentUsual, agentLogin, onlyGuide } = words()
  const usual = choices.agents.find(({ name }) => name === choices.default)
  const others = choices.agents.filter((one) => one.isReady && one !== usual)
  if (others.length === 0 && choices.default === GUIDE) return <p class="soft">{onlyGuide}</p>
  const label = (one: AgentChoice): string =>
    one.needsLogin ? agentLogin(spelledOut(one.title)) : spelledOut(one.title)
  return (
    <>
      <label for="agent">{agent}</label>
      <select
        id="agent"
        value={chosen ?? ''}
        onChange={({ currentTarget: { value } }) => choose(value === '' ? undefined : value)}
      >
        <option value="">{agentUsual(usual === undefined ? agentName(choices.default) : label(usual))}</option>
        {others.map((one) => (
          <option key={one.name} value={one.name}>
            {label(one)}
          </option>
        ))}
        {choices.default !== GUIDE && <option value={GUIDE}>{words().guide}</option>}
      </select>
    </>
  )
}

/** Asked for with each form: agents come and go. */
function useAgents(app: App): AgentChoices | undefined {
  const [choices, setChoices] = useState<AgentChoices>()
  const isOn = app.dialling.line.value.kind === 'on'
  useEffect(() => {
    if (!isOn) return
    app.client?.agents().then(setChoices, () => {
      // Without the list the usual one answers.
    })
  }, [isOn])
  return choices
}

/** Where the command was typed that opened this page. */
function keptDirectory(): string | undefined {
  const directory = keptText('directory')
  return directory === '' ? undefined : directory
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
