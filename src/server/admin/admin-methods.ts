/** Methods about the server itself that any connected client may call: its status, and to stop it. */
import type { SessionProcess } from '../../session/session-registry.ts'
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
  /** The processes of external agents. */
  readonly agents: readonly SessionProcess[]
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

export interface ServerControl {
  status(): Promise<Status>
  stop(order: StopOrder): Promise<StopAnswer>
}

/** The methods of the wire. */
export function adminMethods(orders: ServerControl): Readonly<Record<string, (params: unknown) => Promise<unknown>>> {
  return {
    '_parley/status': () => orders.status(),
    // Async, so that invalid parameters reject the promise instead of throwing.
    '_parley/stop': async (params) => orders.stop(parseStop(params)),
  }
}

function parseStop(params: unknown): StopOrder {
  const { graceMs, ifIdle } = (params ?? {}) as { readonly graceMs?: unknown; readonly ifIdle?: unknown }
  if (graceMs !== undefined && !isDuration(graceMs)) return refuse('graceMs must be a number of milliseconds from 0')
  if (ifIdle !== undefined && typeof ifIdle !== 'boolean') return refuse('ifIdle must be true or false')
  return { ...(graceMs !== undefined && { graceMs }), ...(ifIdle !== undefined && { ifIdle }) }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function refuse(reason: string): never {
  return fail('PARAMS_INVALID', { method: '_parley/stop', reason })
}
