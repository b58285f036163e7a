/** What both kinds of chat stand on: the session they are in, and where its updates go. */
import type { Client, SessionInfo } from '../../client/connect.ts'
import { type Transcript, emptyTranscript, told } from '../../client/transcript.ts'
import type { Update } from '../../client/updates.ts'
import type { CommandInput } from '../command.ts'
import { cwdOf, findSession, newestSession } from '../opening.ts'
import { textOption } from '../options.ts'

export interface Opened {
  readonly sessionId: string
  readonly cwd: string
  /** Undefined for a new session. */
  readonly continued: SessionInfo | undefined
  /** What was said before. */
  readonly transcript: Transcript
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
  goLive(live: (update: Update) => void): Transcript {
    const past = told(emptyTranscript, this.#past ?? [])
    this.#past = undefined
    this.#live = live
    return past
  }
}

/** The session that was named, else the newest of the directory, else a new one. */
export async function openChat(client: Client, options: CommandInput['options']): Promise<Omit<Opened, 'transcript'>> {
  const id = textOption(options, 'session')
  const cwd = cwdOf(options)
  const known = id === undefined ? await newestSession(client, cwd) : await findSession(client, id)
  if (known === undefined || (id === undefined && !client.can.load)) {
    return { sessionId: await client.newSession(cwd), cwd, continued: undefined }
  }
  await client.loadSession(known)
  return { sessionId: known.sessionId, cwd: known.cwd, continued: known }
}
