/**
 * The links of this node's clients to other nodes. A link to a node that was declared dead is closed even if that node
 * is alive: it may reach its clients but not the database, and its sessions will soon be on other nodes.
 */
import type { Duplex } from 'node:stream'
import { localUser } from '../../../edge/method-access.ts'
import { type LinkCaller, type LinkOrder, type ReachableNode, openNodeLink } from './node-link.ts'

export interface LinkedNode extends ReachableNode {
  /** Its process. */
  readonly boot: string
}

export interface OpenLinksOptions extends LinkCaller {
  /** Whether the node is one of the cluster still. Throws while that cannot be known. */
  readonly isLiving: (boot: string) => Promise<boolean>
}

export class OpenLinks {
  readonly #options: OpenLinksOptions
  readonly #links = new Map<Duplex, string>()
  /** Nodes that are asked for now. */
  readonly #asked = new Set<string>()

  constructor(options: OpenLinksOptions) {
    this.#options = options
  }

  /** Throws NODE_SILENT. */
  async open(node: LinkedNode, order: LinkOrder): Promise<Duplex> {
    const link = await openNodeLink(node, this.#options, order)
    this.#links.set(link, node.boot)
    link.once('close', () => this.#links.delete(link))
    return link
  }

  /** A node that was counted out may live, at a server of the database that was superseded: it hears of the one that is in use. */
  async warn(node: LinkedNode): Promise<void> {
    const opened = this.open(node, { principal: localUser('unix socket') })
    await opened.then((link) => link.destroy()).catch(() => undefined)
  }

  /** The node was counted out. */
  cut(dead: string): void {
    for (const [link, boot] of this.#links) if (boot === dead) link.destroy()
  }

  /** Another node may have counted it out: call it again and again with the processes of which it is known that they live. */
  async cutDead(living: readonly { readonly boot: string }[]): Promise<void> {
    const known = new Set(living.map(({ boot }) => boot))
    const doubtful = [...new Set(this.#links.values())].filter((boot) => !known.has(boot) && !this.#asked.has(boot))
    await Promise.all(doubtful.map((boot) => this.#cutIfDead(boot)))
  }

  /** One that has come a moment ago is not known to live yet. */
  async #cutIfDead(dead: string): Promise<void> {
    this.#asked.add(dead)
    try {
      if (!(await this.#options.isLiving(dead))) this.cut(dead)
    } catch {
      // The database is away: that node may live.
    } finally {
      this.#asked.delete(dead)
    }
  }
}
