/** A one-time link that pairs a device, as the commands show it: an address, a text, and a QR code. */
import { networkInterfaces } from 'node:os'
import type { Config } from '../../../config/settings.ts'
import type { CredentialStore } from '../../../credentials/credential-store.ts'
import type { PairingGrant } from '../../../credentials/devices.ts'
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import { askToListen } from '../../../server/admin/admin-client.ts'
import type { ListenAnswer } from '../../../server/admin/admin-methods.ts'
import { withCredentials } from '../../../server/admin/open-credentials.ts'
import { printJson } from '../../output/json.ts'
import { after } from '../../output/terminal/pace.ts'
import { isTerminal } from '../../output/terminal-io.ts'
import { TURN_CANCELLED, OK } from '../../runtime/exit-codes.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { remoteOf } from '../../remote/dial-remote.ts'
import { isSsh, serverOf } from '../../remote/known-servers.ts'
import { complain } from '../../say.ts'
import { AccessDesk, isHere } from './access-desk.ts'

export interface Invitation {
  readonly config: Config
  /** Of the page, without a code; it ends with a slash. */
  readonly address: string
  readonly grant: PairingGrant
  /** The directory that the page offers for a first session. */
  readonly directory?: string
}

interface Link {
  readonly link: string
  readonly code: string
  /** ISO 8601. */
  readonly until: string
}

export async function linkFor({ config, address, grant, directory }: Invitation): Promise<Link> {
  const { code, until } = await new AccessDesk(config).pair(grant)
  const place = directory === undefined ? '' : `&in=${encodeURIComponent(directory)}`
  return { link: `${address}#pair=${code}${place}`, code, until }
}

export async function printObject(invitation: Invitation): Promise<void> {
  const { link, until } = await linkFor(invitation)
  const { address, grant } = invitation
  printJson({ address, link, until, ...grant })
}

/**
 * Prints the link; at a terminal with a QR code, and for the server of this machine then until the link was used, with a fresh
 * one for each Enter. Resolves with the exit code.
 */
export async function invite(invitation: Invitation): Promise<number> {
  const { config } = invitation
  if (!isTerminal(process.stdout, config) || !isTerminal(process.stdin, config)) {
    process.stdout.write(`${(await linkFor(invitation)).link}\n`)
    return OK
  }
  if (!isHere(config)) {
    const { link } = await linkFor(invitation)
    process.stdout.write(`${await qrCode(link)}\n${link}\n\nOpen it on the device, once, within ten minutes.\n`)
    return OK
  }
  const stops = watchStops()
  try {
    const { signal } = stops
    return await withCredentials(config, (credentials) => inviteAtTerminal({ invitation, credentials }, signal))
  } finally {
    stops.release()
    process.stdin.pause()
  }
}

interface Inviting {
  readonly invitation: Invitation
  readonly credentials: CredentialStore
}

async function inviteAtTerminal({ invitation, credentials }: Inviting, stopped: AbortSignal): Promise<number> {
  for (;;) {
    const known = new Set(credentials.known.devices.all().map(({ id }) => id))
    const { link, code } = await linkFor(invitation)
    process.stdout.write(`${await qrCode(link)}\n${link}\n\n${HINT}\n`)
    const next = await nextOf(stopped, () => isOffered(code, credentials))
    if (next === 'stopped') return stopped.reason === TURN_CANCELLED ? OK : (stopped.reason as number)
    if (next === 'enter') continue
    const paired = credentials.known.devices.all().filter(({ id }) => !known.has(id))
    for (const { name, role } of paired) process.stdout.write(`Paired: ${name}, with the role ${role}.\n`)
    if (paired.length > 0) return OK
    process.stdout.write('The link is too old; here is a fresh one.\n')
  }
}

const HINT = 'Open it on the device, once, within ten minutes. Enter makes a fresh link; Ctrl-C leaves.'

/** While the database of a cluster is away, it still may be. */
async function isOffered(code: string, credentials: CredentialStore): Promise<boolean> {
  try {
    await credentials.refresh?.()
  } catch {
    return true
  }
  return credentials.known.devices.isOffered(code)
}

/** How often the terminal looks whether the link was used. Milliseconds. */
const POLL_MS = 300

function nextOf(stopped: AbortSignal, isUnused: () => Promise<boolean>): Promise<'enter' | 'used' | 'stopped'> {
  return new Promise((resolve, reject) => {
    let isOver = false
    let cancel: () => void = () => undefined
    const end = (how: 'enter' | 'used' | 'stopped'): void => {
      isOver = true
      cancel()
      process.stdin.off('data', enter).off('end', stop)
      stopped.removeEventListener('abort', stop)
      resolve(how)
    }
    const enter = (): void => end('enter')
    const stop = (): void => end('stopped')
    const look = (): void => {
      const asked = isUnused().then((still) => {
        if (!still) end('used')
        else if (!isOver) cancel = after(POLL_MS, look)
      })
      asked.catch(reject)
    }
    process.stdin.on('data', enter).once('end', stop)
    stopped.addEventListener('abort', stop)
    look()
  })
}

/** Always black on white, whatever the terminal's colours are, because not every camera reads an inverted code. */
async function qrCode(text: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr')
  const lines = renderUnicodeCompact(text, { border: 2 }).split('\n')
  return lines.map((line) => `\u001b[97;40m${line}\u001b[0m\n`).join('')
}

/**
 * Where a device reaches the page: as the user says, else as this machine does, else as the server says. Throws CONFIG_INVALID
 * and LISTENS_NOWHERE.
 */
export async function pageAddressOf(config: Config, said: string | undefined): Promise<string> {
  if (said !== undefined) return pageFrom(said)
  const elsewhere = config.server === undefined ? undefined : serverOf(config).url
  if (elsewhere !== undefined && !isSsh(elsewhere)) return elsewhere
  try {
    return addressIn(await askToListen({ ...config, ...(await remoteOf(config)) }, {}))
  } catch (error) {
    if (isParleyError(error, 'SERVER_ABSENT')) return fail('LISTENS_NOWHERE', {}, error)
    throw error
  }
}

export function warnIfLocal(address: string): void {
  if (!isLocal(address)) return
  complain('Only this machine can reach this address. For others, see: parley serve --help, or give --url')
}

function pageFrom(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:' || url?.protocol === 'http:')
    return `${url.origin}${url.pathname.replace(/\/?$/u, '/')}`
  const reason = 'it must be an address of the web, such as https://parley.example'
  return fail('CONFIG_INVALID', { key: '--url', value: JSON.stringify(text), reason })
}

/** Where a device reaches the page. Throws LISTENS_NOWHERE. */
export function addressIn({ listening, publicUrl }: ListenAnswer): string {
  const found = publicUrl ?? listening.find(({ url }) => !isLocal(url))?.url ?? listening[0]?.url
  if (found === undefined) return fail('LISTENS_NOWHERE', {})
  const url = new URL(found.endsWith('/') ? found : `${found}/`)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = ownAddress() ?? url.hostname
  return url.href
}

/** Whether only programs of this machine reach it. */
export function isLocal(address: string): boolean {
  // A name that only begins like an address of this machine may be any host.
  return /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/u.test(new URL(address).hostname)
}

/** The first address of this machine that others reach. */
function ownAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address
}
