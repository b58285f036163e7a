/** What Parley sends to every agent in `initialize`, and how it reads the logins that the agent offers in return. */
import type { LoginOffer } from '../../../../errors/rows/agent-rows.ts'
import { fail } from '../../../../errors/parley-error.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { LoginMethod } from '../launch.ts'
import type { Quirks } from '../quirks.ts'
import type { AgentInfo, AgentProcess } from './agent-process.ts'
import { LOGIN_NEEDED, WireError } from './wire-error.ts'

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

/** Logins that an error names. */
const MAX_OFFERS = 20
/** Characters of a name, or of the description of it. */
const MAX_NAME_CHARS = 500

/** Throws AGENT_LOGIN_NEEDED, with the logins that the agent offers, if that is what it says. */
export function requireLogin(error: WireError, process: AgentProcess, { authMethods }: AgentInfo): void {
  if (error.code !== LOGIN_NEEDED) return
  const methods = authMethods
    .flatMap(loginIn)
    .slice(0, MAX_OFFERS)
    .map((login) => offerOf(login, process))
  fail('AGENT_LOGIN_NEEDED', { agent: process.launch.name, methods }, error)
}

function offerOf({ id, name, description, type }: LoginMethod, process: AgentProcess): LoginOffer {
  const clipped = (text: string): string => process.mask(text).slice(0, MAX_NAME_CHARS)
  const about = description === undefined ? {} : { description: clipped(description) }
  return { id: clipped(id), name: clipped(name), ...about, type: clipped(type) }
}

/**
 * Some agents use the login that they have only once it is named, in each process. One that refuses continues: it says itself that
 * it wants a login. Throws AGENT_STUCK and AGENT_START_FAILED, and the signal's reason.
 */
export async function useLogin(
  process: AgentProcess,
  { authMethods }: AgentInfo,
  { quirks: { authBefore, initMs: silenceMs }, signal }: { readonly quirks: Quirks; readonly signal: Signal },
): Promise<void> {
  const isOffered = authMethods.some((method) => fieldsOf(method)['id'] === authBefore)
  if (authBefore === undefined || !isOffered) return
  try {
    await process.ask('authenticate', { methodId: authBefore }, { silenceMs, signal })
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    process.note(process.mask(`it refused the login ${authBefore}: ${error.words}`))
  }
}
