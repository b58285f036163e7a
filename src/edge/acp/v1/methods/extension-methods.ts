/** What may be asked of any session beyond ACP, attached to it or not; `docs/internals/protocol.md` describes it. */
import type { SessionRegistry } from '../../../../session/registry.ts'
import type { Parsed } from './params.ts'

export const SESSION_METHODS = ['_parley/rename', '_parley/fork', '_parley/revoke'] as const

interface Answered {
  readonly result: unknown
}

/** Whoever is attached hears of it as of any title. */
export async function rename(sessions: SessionRegistry, params: Parsed<'_parley/rename'>): Promise<Answered> {
  await sessions.rename(params.sessionId, params.title)
  return { result: {} }
}

/** The next call of it is asked about again. */
export async function revoke(sessions: SessionRegistry, params: Parsed<'_parley/revoke'>): Promise<Answered> {
  await sessions.revoke(params.sessionId, params.grant)
  return { result: {} }
}

/** The new session is stored and listed; it is opened like any other. */
export async function fork(sessions: SessionRegistry, params: Parsed<'_parley/fork'>): Promise<Answered> {
  return { result: { sessionId: await sessions.fork(params.sessionId, params.at ?? undefined) } }
}
