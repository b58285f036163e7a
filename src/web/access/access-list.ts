/** The list of devices, tokens and links, as the server sends it, and the requests that change it. */
import { type Signal, signal } from '@preact/signals'
import type { Client } from '../../client/client.ts'
import { sentenceOf } from '../sessions/error-sentences.ts'

export const ROLES = ['read', 'prompt', 'approve', 'admin'] as const
export type Role = (typeof ROLES)[number]

export interface Device {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly scope?: Scope
  readonly lastUsed: string
}

export interface Token {
  readonly name: string
  readonly role: Role
  readonly scope?: Scope
  readonly lastUsed?: string
}

export interface Share {
  readonly id: string
  readonly sessionId: string
  readonly tools: boolean
  readonly until: string
}

export type Scope = { readonly sessions: readonly string[] } | { readonly directories: readonly string[] }

/** What was just made; its secret is in it, and is shown this once. */
export type Made =
  | { readonly kind: 'device' | 'share'; readonly fragment: string; readonly until: string }
  | { readonly kind: 'token'; readonly name: string; readonly token: string }

interface AccessListing {
  readonly devices: readonly Device[]
  readonly tokens: readonly Token[]
  readonly shares: readonly Share[]
}

export class AccessList {
  /** Undefined until the first answer. */
  readonly listed: Signal<AccessListing | undefined> = signal(undefined)
  readonly made: Signal<Made | undefined> = signal(undefined)
  readonly trouble = signal('')
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  refresh(): Promise<void> {
    return this.#try(async () => {
      this.listed.value = (await this.#client.access('list')) as unknown as AccessListing
    })
  }

  pair(grant: { readonly role: Role; readonly name: string; readonly directory: string }): Promise<void> {
    const { role, name, directory } = grant
    const scope = directory === '' ? {} : { scope: { directories: [directory] } }
    const params = { role, ...(name !== '' && { name }), ...scope }
    return this.#make('device', () => this.#client.access('pair', params))
  }

  share(link: { readonly sessionId: string; readonly hours: number; readonly tools: boolean }): Promise<void> {
    return this.#make('share', () => this.#client.access('share', link))
  }

  addToken(token: { readonly name: string; readonly role: Role }): Promise<void> {
    return this.#make('token', () => this.#client.access('token', token))
  }

  setRole(id: string, role: Role): Promise<void> {
    return this.#change(() => this.#client.access('role', { id, role }))
  }

  remove(kind: 'device' | 'token' | 'share', id: string): Promise<void> {
    return this.#change(() => this.#client.access('remove', { kind, id }))
  }

  async #make(kind: Made['kind'], work: () => Promise<object>): Promise<void> {
    this.made.value = undefined
    await this.#change(async () => {
      this.made.value = { ...(await work()), kind } as Made
    })
  }

  async #change(work: () => Promise<unknown>): Promise<void> {
    await this.#try(async () => void (await work()))
    if (this.trouble.value === '') await this.refresh()
  }

  async #try(work: () => Promise<void>): Promise<void> {
    this.trouble.value = ''
    try {
      await work()
    } catch (error) {
      this.trouble.value = sentenceOf(error)
    }
  }
}
