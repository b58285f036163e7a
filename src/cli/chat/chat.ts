/** The common part of both kinds of chat: the session that is open, and the receiver of its updates. */
import type { Client, SessionInfo } from '../../client/client.ts'
import { roleOf } from '../../client/transcript/items.ts'
import { emptyTranscript, withUpdates } from '../../client/transcript/transcript.ts'
import type { Update } from '../../client/incoming/updates.ts'
import type { CommandInput } from '../runtime/command.ts'
import { cwdOf, newestSession, sessionToJoin } from '../sessions/session-resolution.ts'
import { textOption } from '../runtime/options.ts'
import { type ContextUsage, contextUsageIn } from './status-line.ts'

type Options = CommandInput['options']

export interface OpenedSession {
  readonly sessionId: string
  readonly cwd: string
  /** Undefined for a new session. */
  readonly continued: SessionInfo | undefined
}

/** Updates that arrive while a session is opened are its past; later ones go to `live`. The usage of the context is kept from either. */
export class Updates {
  #past: Update[] | undefined = []
  #live: (update: Update) => void = () => undefined
  #usage: ContextUsage | undefined

  get usage(): ContextUsage | undefined {
    return this.#usage
  }

  take(update: Update): void {
    this.#usage = contextUsageIn(update) ?? this.#usage
    if (this.#past === undefined) this.#live(update)
    else this.#past.push(update)
  }

  /** Ends the past and returns it. */
  goLive(live: (update: Update) => void): readonly Update[] {
    const past = this.#past ?? []
    this.#past = undefined
    this.#live = live
    return past
  }
}

/** The finished turns, and the entries of the running turn, whose last sentence may continue. */
export function pastOf(past: readonly Update[], busy: boolean) {
  const asked = busy ? past.findLastIndex((update) => roleOf(update) === 'user') : past.length
  return { before: withUpdates(emptyTranscript, past.slice(0, asked + 1)), current: past.slice(asked + 1) }
}

/** Which session a chat opens: always a new one, an existing one only, or the existing one if there is one. */
export type Beginning = 'new' | 'join' | 'resume'

export async function openChat(
  client: Client,
  options: Options,
  beginning: Beginning = 'resume',
): Promise<OpenedSession> {
  const cwd = cwdOf(options)
  const known = await knownSession(client, options, beginning)
  if (known === undefined) return { sessionId: await client.newSession(cwd), cwd, continued: undefined }
  await client.loadSession(known)
  return { sessionId: known.sessionId, cwd: known.cwd, continued: known }
}

async function knownSession(client: Client, options: Options, beginning: Beginning): Promise<SessionInfo | undefined> {
  if (beginning === 'new') return undefined
  if (beginning === 'join' || textOption(options, 'session') !== undefined) return sessionToJoin(client, options)
  return client.can.load ? newestSession(client, cwdOf(options)) : undefined
}
