/** Decides which session a command uses: the one that was named, the newest of the directory, or a new one. */
import { resolve } from 'node:path'
import type { Client, SessionInfo } from '../../client/client.ts'
import { fail } from '../../errors/parley-error.ts'
import type { CommandInput } from '../runtime/command.ts'
import { textOption } from '../runtime/options.ts'

/** The directory that was named, or the one we are in. */
export function cwdOf(options: CommandInput['options']): string {
  return resolve(textOption(options, 'cwd') ?? '.')
}

/** The session that was named, else the newest of the directory. Throws SESSION_NOT_FOUND or SESSION_AMBIGUOUS. */
export async function sessionToJoin(client: Client, options: CommandInput['options']): Promise<SessionInfo> {
  const id = textOption(options, 'session')
  if (id !== undefined) return findSession(client, id)
  const cwd = cwdOf(options)
  return (await newestSession(client, cwd)) ?? fail('SESSION_NOT_FOUND', { session: `in ${cwd}` })
}

/** Each of them, once; none is returned when one is not to be found. */
export async function findSessions(client: Client, prefixes: readonly string[]): Promise<readonly SessionInfo[]> {
  const found = new Map<string, SessionInfo>()
  for (const prefix of prefixes) {
    const session = await findSession(client, prefix)
    found.set(session.sessionId, session)
  }
  return [...found.values()]
}

/** The session of this id, or the only one whose id begins so. Throws SESSION_NOT_FOUND or SESSION_AMBIGUOUS. */
export async function findSession(client: Client, prefix: string): Promise<SessionInfo> {
  if (prefix === '') return fail('CONFIG_INVALID', { key: 'ID', value: '""', reason: 'it names no session' })
  const found: SessionInfo[] = []
  for await (const info of client.sessions()) {
    if (info.sessionId === prefix) return info
    if (info.sessionId.startsWith(prefix)) found.push(info)
  }
  const [only, another] = found
  if (only === undefined) return fail('SESSION_NOT_FOUND', { session: prefix })
  return another === undefined ? only : fail('SESSION_AMBIGUOUS', { prefix, count: found.length })
}

export async function newestSession(client: Client, cwd: string): Promise<SessionInfo | undefined> {
  if (!client.can.list) return undefined
  for await (const info of client.sessions(cwd)) return info
  return undefined
}

/** Enough of an id to name it by. */
export function shortId(sessionId: string): string {
  return sessionId.slice(0, 8)
}
