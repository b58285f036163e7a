/** Notices of a Parley server beside the conversation, for clients that asked for them: the phase of the turn, its queue, the clients, the MCP servers, what the agent does. */
import { fieldsOf } from '../../rpc/json-rpc.ts'
import { resolvedIn } from '../sessions/stored-sessions.ts'
import type { Resolved } from '../transcript/items.ts'
import { type PermissionOption, type UpdateParams, sessionsIn } from './updates.ts'

export type Notice =
  | ResolvedNotice
  | TurnNotice
  | QueueNotice
  | PresenceNotice
  | McpNotice
  | AgentNotice
  | SessionsNotice
  | AliveNotice

/** The keep-alive that a server sends every 20 seconds. */
export interface AliveNotice {
  readonly kind: 'alive'
}

/** How a permission request ended, live or in a replay. */
export interface ResolvedNotice {
  readonly kind: 'resolved'
  readonly sessionId: string
  readonly resolved: Resolved
}

export interface TurnNotice {
  readonly kind: 'turn'
  readonly sessionId: string
  readonly phase: string
  /** Of the turn that runs. */
  readonly turnId?: string
  readonly promptId?: string
  /** The turn answers a prompt of this client. */
  readonly mine: boolean
}

export interface QueueNotice {
  readonly kind: 'queue'
  readonly sessionId: string
  readonly prompts: readonly { readonly promptId: string; readonly mine: boolean; readonly text: string }[]
}

export interface PresenceNotice {
  readonly kind: 'presence'
  readonly sessionId: string
  readonly clients: readonly Present[]
}

export interface Present {
  readonly name: string
  readonly title?: string
  readonly version?: string
  readonly you: boolean
}

export interface McpNotice {
  readonly kind: 'mcp'
  readonly sessionId: string
  readonly servers: readonly { readonly name: string; readonly state: string; readonly reason?: string }[]
}

export interface AgentNotice {
  readonly kind: 'agent'
  readonly sessionId: string
  /** `starting`, `quiet` or `ready`. */
  readonly state: string
  readonly agent?: string
  readonly step?: string
  /** ISO 8601. */
  readonly since?: string
  readonly calls?: readonly string[]
}

/** Sessions of the server that are new, changed or gone, whether or not they are open here. */
export interface SessionsNotice {
  readonly kind: 'sessions'
  /** The list begins anew with these. */
  readonly reset: boolean
  readonly sessions: readonly ListedSession[]
  /** Ids. */
  readonly removed: readonly string[]
}

export interface ListedSession {
  readonly sessionId: string
  readonly cwd: string
  readonly title?: string | null
  readonly updatedAt?: string | null
  readonly phase?: string
  readonly agent?: string
  readonly lastSeq?: number
  /** How the last turn ended. */
  readonly lastEnd?: { readonly stopReason?: string }
  /** The oldest permission request without an answer. */
  readonly waiting?: {
    readonly requestId: string
    readonly title?: string
    readonly options: readonly PermissionOption[]
    readonly count?: number
  }
  /** A turn has ended after what this person has seen. */
  readonly unread?: boolean
}

/** Undefined for a notification that is no notice of a session. */
export function noticeOf(method: string, params: unknown, isMine: (promptId: unknown) => boolean): Notice | undefined {
  const fields = fieldsOf(params)
  if (method === '_parley/alive') return { kind: 'alive' }
  if (method === '_parley/sessions') return sessionsNotice(fields)
  const { sessionId } = fields
  if (typeof sessionId !== 'string') return undefined
  switch (method) {
    case '_parley/turn':
      return { ...fields, kind: 'turn', sessionId, phase: String(fields['phase']), mine: isMine(fields['promptId']) }
    case '_parley/resolved': {
      const resolved = resolvedIn(fields)
      return resolved && { kind: 'resolved', sessionId, resolved }
    }
    case '_parley/queue':
      return { kind: 'queue', sessionId, prompts: listOf(fields['prompts']) as QueueNotice['prompts'] }
    case '_parley/presence':
      return { kind: 'presence', sessionId, clients: listOf(fields['clients']) as readonly Present[] }
    case '_parley/mcp':
      return { kind: 'mcp', sessionId, servers: listOf(fields['servers']) as McpNotice['servers'] }
    case '_parley/agent':
      return { ...fields, kind: 'agent', sessionId, state: String(fields['state']), calls: textsOf(fields['calls']) }
    default:
      return undefined
  }
}

function sessionsNotice({ reset, sessions, removed }: Readonly<Record<string, unknown>>): SessionsNotice {
  const rows = sessionsIn(sessions) as unknown as readonly ListedSession[]
  return { kind: 'sessions', reset: reset === true, sessions: rows, removed: textsOf(removed) }
}

/** The phase that an update carries when any client has closed or deleted the session; for clients without notices. */
export function phaseOf({ _meta, update }: UpdateParams): unknown {
  return fieldsOf(_meta)['parley/phase'] ?? fieldsOf(update['_meta'])['parley/phase']
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((one) => typeof one === 'string')
}
