/** Who gets in: devices, tokens and links to single sessions; what each may do, how to add one, and how to end it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { ago, clockTime, words } from '../i18n/language.ts'
import { spelledOut } from '../markdown/invisible.ts'
import { IconButton } from '../page/controls.tsx'
import type { App } from '../sessions/app.ts'
import { AccessList, type Device, ROLES, type Role, type Scope, type Share, type Token } from './access-list.ts'
import { InvitationCard } from './invitation-card.tsx'
import { NewDevice, NewShare, NewToken } from './new-access.tsx'

/** How soon a device that was just paired is in the list. */
const LOOK_AGAIN_MS = 3_000

export function AccessScreen({ app, share }: { readonly app: App; readonly share: string | undefined }) {
  // The list of sessions is there once there is a connection.
  const client = app.listed.value === undefined ? undefined : app.client
  const list = useMemo(() => (client === undefined ? undefined : new AccessList(client)), [client])
  const { access, back } = words()
  return (
    <main class="screen access" id="main" tabIndex={-1}>
      <header class="screen-head">
        <IconButton icon="back" label={back} onPress={() => app.router.back()} />
        <h1>{access.title}</h1>
      </header>
      {list === undefined ? <p class="soft">{words().loading}</p> : <Lists app={app} list={list} share={share} />}
    </main>
  )
}

interface ListsProps {
  readonly app: App
  readonly list: AccessList
  readonly share: string | undefined
}

function Lists({ app, list, share }: ListsProps) {
  const made = list.made.value
  useEffect(() => void list.refresh(), [list])
  useEffect(() => {
    if (made?.kind !== 'device') return undefined
    const timer = setInterval(() => void list.refresh(), LOOK_AGAIN_MS)
    return () => clearInterval(timer)
  }, [made])
  const { access } = words()
  const { devices, tokens, shares } = list.listed.value ?? { devices: [], tokens: [], shares: [] }
  return (
    <>
      {list.trouble.value !== '' && (
        <p class="trouble" role="alert">
          {list.trouble.value}
        </p>
      )}
      <Part title={access.devices} what={access.devicesWhat}>
        <Rows empty={list.listed.value !== undefined && devices.length === 0 ? access.noDevices : ''}>
          {devices.map((device) => (
            <DeviceRow key={device.id} device={device} list={list} />
          ))}
        </Rows>
        <NewDevice list={list} />
        {made?.kind === 'device' && <InvitationCard made={made} list={list} />}
      </Part>
      <Part title={access.shares} what={access.sharesWhat}>
        <Rows empty="">
          {shares.map((one) => (
            <ShareRow key={one.id} app={app} share={one} list={list} />
          ))}
        </Rows>
        <NewShare app={app} list={list} chosen={share} />
        {made?.kind === 'share' && <InvitationCard made={made} list={list} />}
      </Part>
      <Part title={access.tokens} what={access.tokensWhat}>
        <Rows empty="">
          {tokens.map((token) => (
            <TokenRow key={token.name} token={token} list={list} />
          ))}
        </Rows>
        <NewToken list={list} />
        {made?.kind === 'token' && <InvitationCard made={made} list={list} />}
      </Part>
    </>
  )
}

interface PartProps {
  readonly title: string
  readonly what: string
  readonly children: ComponentChildren
}

function Part({ title, what, children }: PartProps) {
  return (
    <section class="part" aria-label={title}>
      <h2>{title}</h2>
      <p class="soft">{what}</p>
      {children}
    </section>
  )
}

function Rows({ empty, children }: { readonly empty: string; readonly children: ComponentChildren }) {
  return empty === '' ? <ul class="keys">{children}</ul> : <p>{empty}</p>
}

function DeviceRow({ device, list }: { readonly device: Device; readonly list: AccessList }) {
  const { id, name, role, scope, lastUsed } = device
  const { access } = words()
  return (
    <li>
      <span class="names">
        <span class="title">{spelledOut(name)}</span>
        <span class="soft">
          {access.used(ago(Date.parse(lastUsed)))}
          {scopeText(scope)}
        </span>
      </span>
      <select
        aria-label={access.roleOf(spelledOut(name))}
        value={role}
        onChange={({ currentTarget }) => void list.setRole(id, currentTarget.value as Role)}
      >
        {ROLES.map((one) => (
          <option key={one} value={one}>
            {access.roles[one]}
          </option>
        ))}
      </select>
      <Remove name={name} word={access.revoke} remove={() => void list.remove('device', id)} />
    </li>
  )
}

function TokenRow({
  token: { name, role, scope, lastUsed },
  list,
}: {
  readonly token: Token
  readonly list: AccessList
}) {
  const { access } = words()
  return (
    <li>
      <span class="names">
        <span class="title">{spelledOut(name)}</span>
        <span class="soft">
          {access.roles[role]} · {lastUsed === undefined ? access.neverUsed : access.used(ago(Date.parse(lastUsed)))}
          {scopeText(scope)}
        </span>
      </span>
      <Remove name={name} word={access.revoke} remove={() => void list.remove('token', name)} />
    </li>
  )
}

interface ShareProps {
  readonly app: App
  readonly share: Share
  readonly list: AccessList
}

function ShareRow({ app, share: { id, sessionId, tools, until }, list }: ShareProps) {
  const { access, untitled } = words()
  const row = app.listed.value?.find((one) => one.sessionId === sessionId)
  const title = spelledOut(row?.title ?? untitled)
  return (
    <li>
      <span class="names">
        <span class="title">{title}</span>
        <span class="soft">
          {access.ends(clockTime(Date.parse(until)))}
          {!tools && ` · ${access.withoutTools}`}
        </span>
      </span>
      <Remove name={title} word={access.end} remove={() => void list.remove('share', id)} />
    </li>
  )
}

/** Asks once more: what is ended is cut at once. */
function Remove({ name, word, remove }: { readonly name: string; readonly word: string; readonly remove: () => void }) {
  const [isAsked, setAsked] = useState(false)
  const { cancel, access } = words()
  if (!isAsked)
    return (
      <button type="button" class="second" aria-label={`${word}: ${spelledOut(name)}`} onClick={() => setAsked(true)}>
        {word}
      </button>
    )
  return (
    <span class="sure" role="group" aria-label={access.sure}>
      <button type="button" class="danger" autoFocus onClick={remove}>
        {access.reallyRemove(word)}
      </button>
      <button type="button" class="second" onClick={() => setAsked(false)}>
        {cancel}
      </button>
    </span>
  )
}

function scopeText(scope: Scope | undefined): string {
  if (scope === undefined) return ''
  const { access } = words()
  return ` · ${'directories' in scope ? scope.directories.map(spelledOut).join(', ') : access.oneSession(scope.sessions.length)}`
}
