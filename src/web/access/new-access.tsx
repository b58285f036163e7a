/** The forms for a new device, a new link to a session, and a new token. Each is folded until it is wanted. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import type { App } from '../sessions/app.ts'
import { type AccessList, ROLES, type Role } from './access-list.ts'

export function NewDevice({ list }: { readonly list: AccessList }) {
  const [role, setRole] = useState<Role>('approve')
  const [name, setName] = useState('')
  const [directory, setDirectory] = useState('')
  const { access } = words()
  return (
    <Adding title={access.addDevice} word={access.makeLink} submit={() => list.pair({ role, name, directory })}>
      <RoleField role={role} choose={setRole} />
      <TextField label={access.nameOptional} value={name} write={setName} />
      <TextField label={access.onlyDirectory} value={directory} write={setDirectory} />
    </Adding>
  )
}

const HOURS = [1, 24, 24 * 7, 24 * 30] as const

interface NewShareProps {
  readonly app: App
  readonly list: AccessList
  readonly chosen: string | undefined
}

export function NewShare({ app, list, chosen }: NewShareProps) {
  const sessions = app.listed.value ?? []
  const [wanted, setWanted] = useState(chosen)
  const [hours, setHours] = useState<number>(24)
  const [areTools, setTools] = useState(true)
  const { access, untitled } = words()
  const sessionId = wanted ?? sessions[0]?.sessionId ?? ''
  return (
    <Adding
      title={access.addShare}
      word={access.makeLink}
      isOpen={chosen !== undefined}
      isReady={sessionId !== ''}
      submit={() => list.share({ sessionId, hours, tools: areTools })}
    >
      <label>
        <span>{access.session}</span>
        <select value={sessionId} onChange={({ currentTarget }) => setWanted(currentTarget.value)}>
          {sessions.slice(0, 200).map((one) => (
            <option key={one.sessionId} value={one.sessionId}>
              {spelledOut(one.title ?? untitled)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{access.lasts}</span>
        <select value={String(hours)} onChange={({ currentTarget }) => setHours(Number(currentTarget.value))}>
          {HOURS.map((one) => (
            <option key={one} value={String(one)}>
              {one < 24 ? access.hours(one) : access.days(one / 24)}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input type="checkbox" checked={areTools} onChange={({ currentTarget }) => setTools(currentTarget.checked)} />
        <span>{access.withTools}</span>
      </label>
    </Adding>
  )
}

export function NewToken({ list }: { readonly list: AccessList }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('read')
  const { access } = words()
  return (
    <Adding
      title={access.addToken}
      word={access.makeToken}
      isReady={name.trim() !== ''}
      submit={() => list.addToken({ name: name.trim(), role })}
    >
      <TextField label={access.name} value={name} write={setName} />
      <RoleField role={role} choose={setRole} />
    </Adding>
  )
}

interface AddingProps {
  readonly title: string
  readonly word: string
  readonly isOpen?: boolean
  readonly isReady?: boolean
  readonly submit: () => Promise<void>
  readonly children: ComponentChildren
}

function Adding({ title, word, isOpen = false, isReady = true, submit, children }: AddingProps) {
  const [isBusy, setBusy] = useState(false)
  return (
    <details class="adding" open={isOpen}>
      <summary>{title}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isBusy) return
          setBusy(true)
          void submit().finally(() => setBusy(false))
        }}
      >
        {children}
        <button type="submit" disabled={!isReady || isBusy}>
          {word}
        </button>
      </form>
    </details>
  )
}

function RoleField({ role, choose }: { readonly role: Role; readonly choose: (role: Role) => void }) {
  const { access } = words()
  return (
    <label>
      <span>{access.role}</span>
      <select value={role} onChange={({ currentTarget }) => choose(currentTarget.value as Role)}>
        {ROLES.map((one) => (
          <option key={one} value={one}>
            {access.roles[one]}: {access.may[one]}
          </option>
        ))}
      </select>
    </label>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly write: (value: string) => void
}

function TextField({ label, value, write }: TextFieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
    </label>
  )
}
