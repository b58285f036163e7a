/** What Parley tells every agent of itself in `initialize`, and how it reads the logins that the agent answers with. */
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { LoginMethod } from '../launch.ts'

/** What Parley itself can serve, whichever client is attached. */
export const CLIENT_CAPABILITIES = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  auth: { terminal: true },
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  _meta: { 'terminal-auth': true },
} as const

/** Empty for what is no login method. */
export function loginIn(method: unknown): readonly LoginMethod[] {
  const raw = fieldsOf(method)
  const { id, name, description, type } = raw
  if (typeof id !== 'string') return []
  const about = typeof description === 'string' ? { description } : {}
  const kind = typeof type === 'string' ? type : 'agent'
  return [{ id, name: typeof name === 'string' ? name : id, ...about, type: kind, raw }]
}
