/**
 * Reads a client's part of `initialize`: its name, the updates that it can show, its services for agents, and the notices
 * that it wants.
 */
import { fieldsOf, isFields, type Fields } from '../../../../rpc/json-rpc.ts'
import type { SubscribedClient } from '../../../../session/handle.ts'

export interface ClientCapabilities {
  /** How it names itself; other clients of the same session are shown this. */
  readonly info: SubscribedClient
  readonly display: DisplayCapabilities
  /** Absent for a client that serves nothing to agents. */
  readonly services: OfferedServices | undefined
  /** The notifications about each session that it wants. */
  readonly notifications: ReadonlySet<SessionNotification>
  /** The client wants a notification when the server stops. */
  readonly wantsServerNotification: boolean
  /** The client wants the list of all sessions, and every change in it. */
  readonly wantsSessionList: boolean
  /** The client wants the list of agents, and every change in it. */
  readonly wantsAgents: boolean
  /** The client wants a sign of life every 20 seconds. */
  readonly wantsAlive: boolean
}

/** Update kinds that a client can show besides the baseline of ACP. Kinds that it did not name are not sent to it. */
export interface DisplayCapabilities {
  /** Options that are true or false. */
  readonly booleans: boolean
  readonly compaction: boolean
  readonly notices: boolean
  /** When each update was stored, in which turn, and who said it: `parley/places`. */
  readonly places: boolean
}

/** Services of a client that the turns of its own prompts may use. */
export interface OfferedServices {
  readonly readTextFile: boolean
  readonly writeTextFile: boolean
  readonly terminal: boolean
  readonly form: boolean
  readonly url: boolean
}

/** The `_parley/<name>` notifications about a session. */
const SESSION_NOTIFICATIONS = ['turn', 'queue', 'presence', 'mcp', 'agent', 'resolved'] as const

export type SessionNotification = (typeof SESSION_NOTIFICATIONS)[number]

/** All that exist, for the answer to `initialize`. */
export const NOTIFICATIONS = [...SESSION_NOTIFICATIONS, 'server', 'sessions', 'agents', 'alive'] as const

/** Everything that has its own update in ACP is shown. */
export const FULL_DISPLAY: DisplayCapabilities = {
  booleans: true,
  compaction: true,
  notices: true,
  places: false,
}

/** Never throws: a malformed capability counts as not offered. */
export function parseClientCapabilities(params: unknown): ClientCapabilities {
  const { clientInfo, clientCapabilities } = fieldsOf(params)
  const capabilities = fieldsOf(clientCapabilities)
  return {
    info: parseClientInfo(fieldsOf(clientInfo)),
    display: parseDisplay(fieldsOf(capabilities['session']), fieldsOf(capabilities['_meta'])),
    services: parseServices(capabilities),
    ...parseNotifications(fieldsOf(capabilities['_meta'])),
  }
}

/** Characters of a name that other clients are shown. */
const MAX_NAME_CHARS = 200

function parseClientInfo(clientInfo: Fields): SubscribedClient {
  const [name, title, version] = [clientInfo['name'], clientInfo['title'], clientInfo['version']].map(nameFrom)
  return {
    name: name ?? 'unknown',
    ...(title === undefined ? {} : { title }),
    ...(version === undefined ? {} : { version }),
  }
}

function nameFrom(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_NAME_CHARS) : undefined
}

/** Returns the same object for equal capabilities: updates are serialised once per object. */
function parseDisplay({ configOptions, compaction, notices }: Fields, meta: Fields): DisplayCapabilities {
  const { boolean } = fieldsOf(configOptions)
  const display = {
    booleans: isFields(boolean),
    compaction: isFields(compaction),
    notices: isFields(notices),
    places: isFields(meta['parley/places']),
  }
  const key = JSON.stringify(display)
  const known = displays.get(key) ?? display
  displays.set(key, known)
  return known
}

const displays = new Map<string, DisplayCapabilities>([[JSON.stringify(FULL_DISPLAY), FULL_DISPLAY]])

function parseServices({ fs, terminal, elicitation }: Fields): OfferedServices | undefined {
  const { readTextFile, writeTextFile } = fieldsOf(fs)
  // An empty `elicitation` names no mode, and so offers none.
  const { form, url } = fieldsOf(elicitation)
  const services = {
    readTextFile: readTextFile === true,
    writeTextFile: writeTextFile === true,
    terminal: terminal === true,
    form: isFields(form),
    url: isFields(url),
  }
  return Object.values(services).includes(true) ? services : undefined
}

/** Unknown names are meant for other servers. */
function parseNotifications(meta: Fields) {
  const named = meta['parley/notifications']
  const wanted: readonly unknown[] = Array.isArray(named) ? named : []
  return {
    notifications: new Set(SESSION_NOTIFICATIONS.filter((name) => wanted.includes(name))),
    wantsServerNotification: wanted.includes('server'),
    wantsSessionList: wanted.includes('sessions'),
    wantsAgents: wanted.includes('agents'),
    wantsAlive: wanted.includes('alive'),
  }
}
