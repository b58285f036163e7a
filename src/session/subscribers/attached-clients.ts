/** The clients that are attached to a live session: their names, what they declared and provide, and the prompts they sent. */
import type { ServerStatus } from '../../ports/tools.ts'
import type { ClientProviders } from '../client-services/client-providers.ts'
import { isOpenPrompt } from '../domain/state.ts'
import type { ClientPrompt, PresentClient, SessionConfig, SubscribeOptions, SubscribedClient } from '../handle.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'
import type { RegistryPool } from '../tools/registry-pool.ts'

/** The parts of its session that a client's commands work on. */
export interface AttachedClientsDeps {
  readonly ports: Pick<SessionPorts, 'report'>
  readonly log: SessionLog
  readonly registries: RegistryPool
  readonly providers: ClientProviders
}

interface Attached {
  readonly client: SubscribedClient
  /** The question to which it has no answer. */
  declined: string | undefined
}

/** A client is known by its subscription, which is only used as a key here. */
export class AttachedClients {
  readonly #deps: AttachedClientsDeps
  readonly #attached = new Map<object, Attached>()

  constructor(deps: AttachedClientsDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#attached.size
  }

  /** In the order in which they came. */
  presentTo(subscription: object): readonly PresentClient[] {
    return [...this.#attached].map(([one, { client }]) => Object.assign({ isYou: one === subscription }, client))
  }

  serversFor(subscription: object): readonly ServerStatus[] {
    return this.#deps.registries.serversFor(subscription)
  }

  /** Throws SERVERS_TOO_MANY. */
  join(subscription: object, { config, client, peer }: SubscribeOptions): void {
    this.setConfig(subscription, config)
    this.#attached.set(subscription, { client, declined: undefined })
    if (peer !== undefined) this.#deps.providers.joined(subscription, peer)
    this.#resumePaused()
  }

  /** False when it had left before. */
  leave(subscription: object): boolean {
    this.#deps.registries.leave(subscription)
    this.#deps.providers.left(subscription)
    return this.#attached.delete(subscription)
  }

  /** Replaces the directories and MCP servers that the client declared. Throws SERVERS_TOO_MANY. */
  setConfig(subscription: object, config: SessionConfig): void {
    this.#deps.registries.declare(subscription, config)
    this.releaseConfig(config)
  }

  /** Drops what `open` declared for a client before it was attached. */
  releaseConfig(config: SessionConfig): void {
    this.#deps.registries.leave(config)
  }

  /**
   * Accepts a prompt; its end comes as an entry. Sent again with the same id, it runs once. Its turn has the directories that
   * this client declared, and the session keeps the MCP servers of the client until then, even if the client leaves.
   */
  async prompt(subscription: object, { promptId, content, meta }: ClientPrompt): Promise<'open' | 'ended'> {
    const { log, registries, providers } = this.#deps
    const additionalDirectories = registries.directoriesOf(subscription)
    registries.began(promptId, subscription)
    providers.lend(promptId, subscription)
    try {
      const command = { kind: 'prompt', promptId, content, additionalDirectories, ...(meta && { meta }) } as const
      const entries = await log.request(command)
      return entries.length > 0 || isOpenPrompt(promptId, log.state) ? 'open' : 'ended'
    } finally {
      if (!isOpenPrompt(promptId, log.state)) this.promptEnded(promptId)
    }
  }

  /** The client waits for prompts that it sent over an earlier connection, and provides what their turns need. */
  adoptPrompts(subscription: object, promptIds: readonly string[]): void {
    const { log, providers } = this.#deps
    const open = promptIds.filter((promptId) => isOpenPrompt(promptId, log.state))
    for (const promptId of open) providers.lend(promptId, subscription)
    if (open.length > 0) this.#resumePaused()
  }

  /**
   * The client has no answer to this question. It stays open while another attached client may answer it; when none is left,
   * the answer is no, with `why` as a note in the conversation.
   */
  async decline(subscription: object, requestId: string, why?: string): Promise<void> {
    const attached = this.#attached.get(subscription)
    if (attached === undefined) return
    attached.declined = requestId
    if ([...this.#attached.values()].some(({ declined }) => declined !== requestId)) return
    await this.#deps.log.request({ kind: 'answer', requestId, optionId: null, ...(why === undefined ? {} : { why }) })
  }

  promptEnded(promptId: string): void {
    this.#deps.registries.ended(promptId)
    this.#deps.providers.ended(promptId)
  }

  /** Calls of a suspended turn that wait for input go on once a client is attached that can give it. */
  #resumePaused(): void {
    const { log, providers, ports } = this.#deps
    if (log.closed.aborted || !providers.canGoOn(log.state)) return
    log.request({ kind: 'resume_paused' }).catch(ports.report)
  }
}
