/** The first exchange on every connection: who we are and what we ask for, who they are and what they can. */
import { fail } from '../../errors/parley-error.ts'
import { type Capabilities, agentNameOf, capabilitiesOf, fieldsOf } from './capabilities.ts'
import type { Peer, RequestId } from '../connection/json-rpc-peer.ts'
import { type Services, capabilitiesFor } from '../incoming/client-methods.ts'

/** The newest version of ACP that we speak, and the only one. */
const PROTOCOL_VERSION = 1

export interface ClientInfo {
  readonly name: string
  readonly title: string
  readonly version: string
}

export type NoticeKind = 'turn' | 'presence' | 'queue' | 'mcp'

/** What a Parley server is told of us besides; others ignore it. */
export interface Hello {
  readonly info: ClientInfo
  readonly notices?: readonly NoticeKind[]
  /** What it may demand before it tells of any session. */
  readonly token?: string | undefined
  /** What we do for the agent when it asks; only that is declared. */
  readonly serves?: Services
  /** What answers in sessions that we create; `chosen` by a person, it answers from now on in those that we open too. */
  readonly agent?: { readonly name: string; readonly chosen: boolean }
  /** What of our environment reaches providers of models, for a server of our own user. Secret: it is kept nowhere. */
  readonly lent?: Readonly<Record<string, string>>
}

export interface Introduced {
  readonly name: string
  readonly version: string
  readonly can: Capabilities
  /** Methods beyond ACP; undefined when the other side is no Parley server. */
  readonly parley: readonly string[] | undefined
  /** What it can tell of beside the conversation. */
  readonly notices: readonly string[]
}

/** Throws PROTOCOL_UNSUPPORTED. */
export async function introduce(
  peer: Peer,
  id: RequestId,
  { info, notices = [], token, serves = {}, agent, lent }: Hello,
): Promise<Introduced> {
  const params = {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {
      ...capabilitiesFor(serves),
      session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
      _meta: { 'parley/notifications': [...notices, 'server'] },
    },
    clientInfo: info,
    _meta: {
      ...(agent && { 'parley/agent': agent.name, 'parley/agentChosen': agent.chosen }),
      ...(token !== undefined && { 'parley/token': token }),
      ...(lent && { 'parley/variables': lent }),
    },
  }
  const result = fieldsOf(await peer.request(id, 'initialize', params))
  const found = result['protocolVersion']
  if (found !== PROTOCOL_VERSION) fail('PROTOCOL_UNSUPPORTED', { found: versionIn(found), known: PROTOCOL_VERSION })
  const { version } = fieldsOf(result['agentInfo'])
  return {
    name: agentNameOf(result),
    version: typeof version === 'string' ? version : '',
    can: capabilitiesOf(result),
    ...parleyOf(result),
  }
}

function versionIn(found: unknown): string {
  return found === undefined || found === null ? 'no version' : `version ${JSON.stringify(found).slice(0, 40)}`
}

function parleyOf(result: Readonly<Record<string, unknown>>): Pick<Introduced, 'parley' | 'notices'> {
  const { parley } = fieldsOf(fieldsOf(result['agentCapabilities'])['_meta'])
  if (parley === undefined) return { parley: undefined, notices: [] }
  const { methods, notifications } = fieldsOf(parley)
  return { parley: namesIn(methods), notices: namesIn(notifications) }
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : []
}
