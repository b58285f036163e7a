/** Methods about the server itself that any connected client may call: its status, to stop it, and where it listens. */
import type { SessionProcess } from '../../session/handle.ts'
import { fail } from '../../errors/parley-error.ts'

export interface Status {
  readonly pid: number
  readonly version: string
  readonly socket: string
  readonly uptimeSeconds: number
  /** Those that are live. */
  readonly sessions: number
  /** Connections, without the one that asks. */
  readonly clients: number
  readonly mcpServers: number
  /** Turns that run. */
  readonly working: number
  /** Prompts that wait behind a turn. A server of an earlier version says neither this nor the next two. */
  readonly queued?: number
  /** The memory of the server itself. */
  readonly residentBytes?: number
  /** The journal on the disk. */
  readonly journalBytes?: number
  /** The processes of external agents. */
  readonly agents: readonly SessionProcess[]
  /** Those in which the sessions of a cluster are kept, and what an acknowledgement means there; none on a machine of its own. */
  readonly databases: readonly DatabaseState[]
}

interface DatabaseState {
  readonly address: string
  readonly durability: 'replicated' | 'disk' | 'memory'
  readonly warnings: readonly string[]
}

export interface StopOrder {
  /** How long turns that run may still take. Milliseconds. */
  readonly graceMs?: number
  /** Only if no turn runs. */
  readonly ifIdle?: boolean
}

export interface StopAnswer {
  readonly stopping: boolean
  /** Turns that run. */
  readonly working: number
}

/** Addresses as the setting `listen` has them. */
export interface ListenOrder {
  readonly open?: readonly string[]
  readonly close?: readonly string[]
}

export interface ListenAnswer {
  /** All that are open then, each with the address of the page. */
  readonly listening: readonly { readonly address: string; readonly url: string }[]
  /** Where a proxy receives clients. */
  readonly publicUrl?: string
}

export interface ServerControl {
  status(): Promise<Status>
  stop(order: StopOrder): Promise<StopAnswer>
  listen(order: ListenOrder): Promise<ListenAnswer>
}

/** The methods of the wire. */
export function adminMethods(orders: ServerControl): Readonly<Record<string, (params: unknown) => Promise<unknown>>> {
  return {
    '_parley/status': () => orders.status(),
    // Async, so that invalid parameters reject the promise instead of throwing.
    '_parley/stop': async (params) => orders.stop(parseStop(params)),
    '_parley/listen': async (params) => orders.listen(parseListen(params)),
  }
}

function parseStop(params: unknown): StopOrder {
  const { graceMs, ifIdle } = (params ?? {}) as { readonly graceMs?: unknown; readonly ifIdle?: unknown }
  if (graceMs !== undefined && !isDuration(graceMs))
    return failParams('_parley/stop', 'graceMs must be a number of milliseconds from 0')
  if (ifIdle !== undefined && typeof ifIdle !== 'boolean')
    return failParams('_parley/stop', 'ifIdle must be true or false')
  return { ...(graceMs !== undefined && { graceMs }), ...(ifIdle !== undefined && { ifIdle }) }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function parseListen(params: unknown): ListenOrder {
  const { open = [], close = [] } = (params ?? {}) as { readonly open?: unknown; readonly close?: unknown }
  if (!areTexts(open) || !areTexts(close))
    return failParams('_parley/listen', 'open and close must be lists of addresses')
  return { open, close }
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function failParams(method: string, reason: string): never {
  return fail('PARAMS_INVALID', { method, reason })
}
