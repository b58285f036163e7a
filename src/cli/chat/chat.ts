/** What both kinds of chat stand on: the session they are in, and where its updates go. */
import type { Client, SessionInfo } from '../../client/connect.ts'
import { emptyTranscript, roleOf, told } from '../../client/transcript.ts'
import type { Update } from '../../client/updates.ts'
import type { CommandInput } from '../command.ts'
import { cwdOf, findSession, newestSession } from '../opening.ts'
import { textOption } from '../options.ts'

export interface Opened {
  readonly sessionId: string
  readonly cwd: string
  /** Undefined for a new session. */
  readonly continued: SessionInfo | undefined
}

/** Updates that arrive while a session is opened are its past; those that come later go where `live` says. */
export class Updates {
  #past: Update[] | undefined = []
  #live: (update: Update) => void = () => undefined

  take(update: Update): void {
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

/** A past that ends in a turn that still runs: what was said before that turn answered, and what it has said so far. */
export function splitAtTurn(past: readonly Update[]) {
  const asked = past.findLastIndex((update) => roleOf(update) === 'user')
  return { before: told(emptyTranscript, past.slice(0, asked + 1)), current: past.slice(asked + 1) }
}

/** A new session, the one that was named, or the newest of the directory; a new one where there is none. */
export async function openChat(client: Client, options: CommandInput['options'], fresh = false): Promise<Opened> {
  const id = textOption(options, 'session')
  const cwd = cwdOf(options)
  const known = fresh ? undefined : id === undefined ? await newestSession(client, cwd) : await findSession(client, id)
  if (known === undefined || (id === undefined && !client.can.load)) {
    return { sessionId: await client.newSession(cwd), cwd, continued: undefined }
  }
  await client.loadSession(known)
  return { sessionId: known.sessionId, cwd: known.cwd, continued: known }
}
