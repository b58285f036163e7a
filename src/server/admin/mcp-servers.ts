/** The MCP servers of live sessions: their status, and their suggestions. Every client that may list sessions can ask. */
import { fail } from '../../errors/parley-error.ts'
import type { ServerStatus } from '../../ports/tools.ts'
import type { Owner } from '../compose/compose.ts'

/** As programs see it, on the wire. */
export interface LiveMcp {
  readonly sessions: readonly { readonly sessionId: string; readonly servers: readonly ServerStatus[] }[]
}

export function liveMcp(owner: Pick<Owner, 'mcp'>): LiveMcp {
  return { sessions: owner.mcp().map(({ session: sessionId, servers }) => ({ sessionId, servers })) }
}

/** The method of the wire. */
export function mcpMethod(
  owner: Pick<Owner, 'mcp' | 'complete'>,
): Readonly<Record<string, (params: unknown) => Promise<unknown>>> {
  return {
    '_parley/servers': async () => liveMcp(owner),
    '_parley/complete': async (params) => {
      const { sessionId, command, text } = parseTyped(params)
      return (await owner.complete(sessionId, { prompt: command, text })) ?? { values: [] }
    },
  }
}

/** The longest text behind a slash command that is completed. */
const MAX_TYPED_LENGTH = 4000

function parseTyped(params: unknown) {
  const fields = typeof params === 'object' && params !== null ? (params as Readonly<Record<string, unknown>>) : {}
  return {
    sessionId: requireText(fields, 'sessionId'),
    command: requireText(fields, 'command'),
    text: requireText(fields, 'text'),
  }
}

function requireText(fields: Readonly<Record<string, unknown>>, key: string): string {
  const value = fields[key]
  if (typeof value === 'string' && value.length <= MAX_TYPED_LENGTH) return value
  const reason = `${key} must be a text of at most ${MAX_TYPED_LENGTH} characters`
  return fail('PARAMS_INVALID', { method: '_parley/complete', reason })
}
