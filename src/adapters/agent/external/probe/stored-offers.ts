/** What agents offered when they were last started: one small file for each agent, with the command that was started. */
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { replaceFile } from '../../../../state-files/atomic-file.ts'
import { readTextSync } from '../../../../state-files/bounded-read.ts'
import type { AgentOffers } from '../launch.ts'

const MAX_BYTES = 4 * 1024 * 1024

const table = z.record(z.string(), z.unknown())

const offers = z.object({
  agentName: z.string(),
  version: z.string(),
  protocol: z.number(),
  capabilities: table,
  promptKinds: z.object({ image: z.boolean(), audio: z.boolean(), embeddedContext: z.boolean() }),
  logins: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string().exactOptional(),
      type: z.string(),
      raw: table,
    }),
  ),
  modes: z.unknown().optional(),
  configOptions: z.unknown().optional(),
  models: z.unknown().optional(),
  commands: z.array(z.unknown()),
  needsLogin: z.boolean(),
  initMs: z.number().exactOptional(),
  newMs: z.number().exactOptional(),
  at: z.number(),
})

const stored = z.object({ command: z.string(), offers })

export class StoredOffers {
  readonly #directory: string
  readonly #read = new Map<string, { readonly command: string; readonly offers: AgentOffers } | undefined>()

  /** `directory` is `<state>/agents`. */
  constructor(directory: string) {
    this.#directory = join(directory, 'offers')
  }

  /** Undefined for an agent that was never met, and for one that is started by another command now. */
  get(name: string, command?: string): AgentOffers | undefined {
    const found = this.#read.get(name) ?? this.#load(name)
    if (found === undefined) return undefined
    this.#read.set(name, found)
    return command === undefined || found.command === command ? found.offers : undefined
  }

  /** Throws where the state directory cannot be written. */
  put(name: string, command: string, said: AgentOffers): void {
    this.#read.set(name, { command, offers: said })
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    replaceFile(this.#file(name), `${JSON.stringify({ command, offers: said })}\n`)
  }

  #load(name: string): { readonly command: string; readonly offers: AgentOffers } | undefined {
    try {
      const read = stored.safeParse(JSON.parse(readTextSync(this.#file(name), MAX_BYTES) ?? ''))
      return read.success ? read.data : undefined
    } catch {
      // It is damaged, or of another version of Parley: the agent is asked again when it runs next.
      return undefined
    }
  }

  #file(name: string): string {
    return join(this.#directory, `${name}.json`)
  }
}

/** Tells one command of an agent from another, without its secrets. */
export function commandKey(program: string, args: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([program, args]))
    .digest('hex')
    .slice(0, 16)
}
