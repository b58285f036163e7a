/** The index of the ACP registry (github.com/agentclientprotocol/registry), and the copy of it in the state directory. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { fail, reasonOf } from '../../../../errors/parley-error.ts'
import { withTimeout } from '../../../../async/with-timeout.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { replaceFile } from '../../../../state-files/atomic-file.ts'
import { readTextSync } from '../../../../state-files/bounded-read.ts'

const packaged = z.object({
  package: z.string(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
})

const archived = z.object({
  archive: z.string(),
  cmd: z.string(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/u)
    .optional(),
})

/** What is not understood of an entry is left out; an entry without these fields is no entry. */
const entry = z.object({
  id: z.string().regex(/^[a-z][a-z0-9-]*$/u),
  name: z.string(),
  version: z.string(),
  description: z.string(),
  website: z.string().optional(),
  license: z.string().optional(),
  distribution: z.object({
    npx: packaged.optional(),
    uvx: packaged.optional(),
    binary: z.record(z.string(), archived).optional(),
  }),
})

export type RegistryEntry = z.infer<typeof entry>

const stored = z.object({ url: z.string(), at: z.number(), agents: z.array(z.unknown()) })

const MAX_BYTES = 8 * 1024 * 1024
const FRESH_MS = 24 * 60 * 60 * 1000
const TIMEOUT_MS = 30_000

export interface RegistryOptions {
  /** `<state>/agents`. */
  readonly directory: string
  readonly url: string
  readonly clock: Clock
}

export interface RegistryAnswer {
  readonly entries: readonly RegistryEntry[]
  /** Why an old copy had to do. */
  readonly stale?: string
}

export class RegistryIndex {
  readonly #options: RegistryOptions

  constructor(options: RegistryOptions) {
    this.#options = options
  }

  /** What is here of it, however old. Sends no request. */
  known(): readonly RegistryEntry[] {
    return this.#read()?.entries ?? []
  }

  /** Asks the registry, unless a copy of today is here. Throws AGENT_REGISTRY if it does not answer and no copy is here. */
  async ask(signal?: Signal): Promise<RegistryAnswer> {
    const { clock } = this.#options
    const copy = this.#read()
    if (copy !== undefined && clock.now() - copy.at < FRESH_MS) return { entries: copy.entries }
    try {
      const agents = await this.#fetch(signal)
      mkdirSync(this.#options.directory, { recursive: true, mode: 0o700 })
      replaceFile(this.#file(), JSON.stringify({ url: this.#options.url, at: clock.now(), agents }))
      return { entries: entriesIn(agents) }
    } catch (error) {
      const reason = reasonOf(error)
      if (copy !== undefined) return { entries: copy.entries, stale: reason }
      return fail('AGENT_REGISTRY', { url: this.#options.url, reason }, error)
    }
  }

  #fetch(signal: Signal | undefined): Promise<readonly unknown[]> {
    const timedOut = (): Error => new Error(`it did not answer within ${TIMEOUT_MS / 1000} s`)
    const limits = {
      clock: this.#options.clock,
      ms: TIMEOUT_MS,
      signals: signal === undefined ? [] : [signal],
      timedOut,
    }
    return withTimeout((limit) => this.#list(limit as AbortSignal), limits)
  }

  async #list(signal: AbortSignal): Promise<readonly unknown[]> {
    const response = await fetch(this.#options.url, { signal, headers: { accept: 'application/json' } })
    if (!response.ok) throw new Error(`it answered ${response.status}`)
    const parsed: unknown = JSON.parse(await boundedText(response))
    const read = z.object({ agents: z.array(z.unknown()) }).safeParse(parsed)
    if (!read.success) throw new Error('its answer is no list of agents')
    return read.data.agents
  }

  #read(): { readonly at: number; readonly entries: readonly RegistryEntry[] } | undefined {
    try {
      const read = stored.safeParse(JSON.parse(readTextSync(this.#file(), MAX_BYTES) ?? ''))
      // A copy of another registry says nothing about this one.
      if (!read.success || read.data.url !== this.#options.url) return undefined
      return { at: read.data.at, entries: entriesIn(read.data.agents) }
    } catch {
      // It was never asked, or its copy is damaged: the next answer replaces it.
      return undefined
    }
  }

  #file(): string {
    return join(this.#options.directory, 'registry.json')
  }
}

function entriesIn(agents: readonly unknown[]): readonly RegistryEntry[] {
  return agents.flatMap((one) => {
    const read = entry.safeParse(one)
    return read.success ? [read.data] : []
  })
}

async function boundedText(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_BYTES) throw new Error('its answer is too long')
  }
  return text + decoder.decode()
}
