/**
 * Which conversations of an agent are or were sessions here: one small file for each agent. A conversation that is in
 * this file but is no session any more was deleted by the user, so importing all does not bring it back.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { replaceFile } from '../../../../state-files/atomic-file.ts'
import { readTextSync } from '../../../../state-files/bounded-read.ts'

const MAX_BYTES = 16 * 1024 * 1024

const shape = z.object({
  /** The agent's own id, and that of the session here. */
  taken: z.record(z.string(), z.string()),
  /** Up to which entry each session has been looked through for conversations. */
  seen: z.record(z.string(), z.number()),
})

export interface Taken {
  readonly taken: ReadonlyMap<string, string>
  readonly seen: ReadonlyMap<string, number>
}

export class TakenSessions {
  readonly #directory: string

  /** `directory` is `<state>/agents`. */
  constructor(directory: string) {
    this.#directory = join(directory, 'conversations')
  }

  /** Throws where the file is there and cannot be read: what was deleted must not come back. */
  of(name: string): Taken {
    const text = readTextSync(this.#file(name), MAX_BYTES)
    const { taken, seen } = text === undefined ? { taken: {}, seen: {} } : shape.parse(JSON.parse(text))
    return { taken: new Map(Object.entries(taken)), seen: new Map(Object.entries(seen)) }
  }

  /** Throws where the state directory cannot be written. */
  put(name: string, { taken, seen }: Taken): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    const text = JSON.stringify({ taken: Object.fromEntries(taken), seen: Object.fromEntries(seen) })
    replaceFile(this.#file(name), `${text}\n`)
  }

  /** Adds these conversations of one session. */
  add(name: string, agentSessionIds: readonly string[], sessionId: string): void {
    const { taken, seen } = this.of(name)
    const more = agentSessionIds.map((id) => [id, sessionId] as const)
    this.put(name, { taken: new Map([...taken, ...more]), seen })
  }

  #file(name: string): string {
    return join(this.#directory, `${name}.json`)
  }
}
