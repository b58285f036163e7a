/** The first exchange on every connection: the client's name and wishes, and the agent's name and offer. */
import { type RequestId, fieldsOf, type Fields } from '../rpc/json-rpc.ts'
import { fail } from './client-error.ts'
import type { Peer } from './connection/json-rpc-peer.ts'
import { type ClientServices, capabilitiesFor } from './incoming/client-methods.ts'

/** The newest version of ACP that this client speaks, and the only one. */
const PROTOCOL_VERSION = 1

export interface ClientInfo {
  readonly name: string
  readonly title: string
  readonly version: string
}

export type NoticeKind = 'turn' | 'presence' | 'queue' | 'mcp' | 'agent' | 'resolved' | 'sessions' | 'alive'

/** The client as `initialize` describes it. All but `info` and `services` is for a Parley server; other agents ignore it. */
export interface ClientOptions {
  readonly info: ClientInfo
  readonly notices?: readonly NoticeKind[]
  /** Updates say when they were stored, in which turn, and who sent a prompt. */
  readonly places?: boolean
  /** The token that the server may demand. */
  readonly token?: string | undefined
  /** The methods that the agent can call at the client; no others are declared. */
  readonly services?: ClientServices
  /** The agent of sessions that the client creates; when a user chose it, also of those that it opens, from their next turn on. */
  readonly agent?: { readonly name: string; readonly chosen: boolean }
  /** Variables of our environment with keys of model providers, for a server of our own user. Secret: they are stored nowhere. */
  readonly lent?: Readonly<Record<string, string>>
}

/** The agent as it describes itself. */
export interface AgentDetails {
  readonly name: string
  readonly version: string
  readonly can: Capabilities
  /** Methods beyond ACP; undefined when the other side is no Parley server. */
  readonly parleyMethods: readonly string[] | undefined
  /** The notices that it offers. */
  readonly notices: readonly string[]
  /** What a Parley server allows this client: `read`, `prompt`, `approve` or `admin`. Other agents say none. */
  readonly role: string | undefined
}

/** A capability that the agent does not name is absent, and one that we do not know is ignored. */
export interface Capabilities {
  readonly load: boolean
  readonly resume: boolean
  readonly list: boolean
  readonly close: boolean
  readonly delete: boolean
  readonly additionalDirectories: boolean
  readonly mcp: { readonly http: boolean; readonly sse: boolean }
  /** The kinds of content, besides text and links, that a prompt may have. */
  readonly prompt: { readonly image: boolean; readonly embeddedContext: boolean }
}

/** Throws PROTOCOL_UNSUPPORTED. */
export async function initialize(peer: Peer, id: RequestId, options: ClientOptions): Promise<AgentDetails> {
  const result = fieldsOf(await peer.request(id, 'initialize', initializeParams(options)))
  const found = result['protocolVersion']
  if (found !== PROTOCOL_VERSION) fail('PROTOCOL_UNSUPPORTED', { found: versionText(found), known: PROTOCOL_VERSION })
  const { version } = fieldsOf(result['agentInfo'])
  const { parley } = fieldsOf(fieldsOf(result['agentCapabilities'])['_meta'])
  const { methods, notifications, role } = fieldsOf(parley)
  return {
    name: agentNameOf(result),
    version: typeof version === 'string' ? version : '',
    can: capabilitiesOf(result),
    parleyMethods: parley === undefined ? undefined : namesIn(methods),
    notices: namesIn(notifications),
    role: typeof role === 'string' ? role : undefined,
  }
}

function initializeParams({ info, notices = [], places, token, services = {}, agent, lent }: ClientOptions): object {
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {
      ...capabilitiesFor(services),
      session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
      _meta: { 'parley/notifications': [...notices, 'server'], ...(places === true && { 'parley/places': {} }) },
    },
    clientInfo: info,
    _meta: {
      ...(agent && { 'parley/agent': agent.name, 'parley/agentChosen': agent.chosen }),
      ...(token !== undefined && { 'parley/token': token }),
      ...(lent && { 'parley/variables': lent }),
    },
  }
}

export function capabilitiesOf(result: Fields): Capabilities {
  const agent = fieldsOf(result['agentCapabilities'])
  const sessions = fieldsOf(agent['sessionCapabilities'])
  // A page of ACP says `mcp` for what its schema calls `mcpCapabilities`.
  const mcp = fieldsOf(agent['mcpCapabilities'] ?? agent['mcp'])
  const prompt = fieldsOf(agent['promptCapabilities'])
  return {
    load: agent['loadSession'] === true,
    resume: isOffered(sessions['resume']),
    list: isOffered(sessions['list']),
    close: isOffered(sessions['close']),
    delete: isOffered(sessions['delete']),
    additionalDirectories: isOffered(sessions['additionalDirectories']),
    mcp: { http: mcp['http'] === true, sse: mcp['sse'] === true },
    prompt: { image: prompt['image'] === true, embeddedContext: prompt['embeddedContext'] === true },
  }
}

/** An object means yes; older agents say true. */
function isOffered(value: unknown): boolean {
  return value === true || (typeof value === 'object' && value !== null)
}

/** Users see the title, else the name. */
function agentNameOf(result: Fields): string {
  const { title, name } = fieldsOf(result['agentInfo'])
  return [title, name].find((text): text is string => typeof text === 'string' && text !== '') ?? 'the agent'
}

function versionText(found: unknown): string {
  return found === undefined || found === null ? 'no version' : `version ${JSON.stringify(found).slice(0, 40)}`
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : []
}
