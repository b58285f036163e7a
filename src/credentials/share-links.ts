/**
 * Share links: the holder of one can read one session, live, until the link expires or is revoked. The state directory
 * keeps only the SHA-256 of its secret.
 */
import { fail } from '../errors/parley-error.ts'
import type { Clock } from '../ports/clock.ts'
import { type CredentialDocument, type CredentialPlace, documentIn } from './credential-documents.ts'
import { hashOf, isHash, linkIdOf, newLinkCode } from './secret.ts'

export interface ShareLink {
  /** No secret. */
  readonly id: string
  readonly sessionId: string
  /** Whether the output of tools is shown. */
  readonly tools: boolean
  /** ISO 8601. */
  readonly created: string
  /** ISO 8601. */
  readonly until: string
}

export interface StoredLink extends ShareLink {
  readonly sha256: string
}

/** A link that has just been made. Its code is shown this once. */
export interface MadeLink {
  readonly link: ShareLink
  readonly code: string
}

interface ShareLinksFile {
  readonly links: readonly StoredLink[]
}

/** No link lasts longer. */
const LONGEST_SHARE_MS = 30 * 24 * 60 * 60_000

export class ShareLinks {
  readonly #file: CredentialDocument<ShareLinksFile>
  readonly #now: Clock['now']

  constructor(place: CredentialPlace, clock: Pick<Clock, 'now'>) {
    this.#file = documentIn(place, 'share-links', { empty: { links: [] }, isContent: isShareLinksFile })
    this.#now = () => clock.now()
  }

  /** Longer than 30 days becomes 30 days. Throws TOKENS_UNUSABLE. */
  add({ sessionId, tools, forMs }: Pick<ShareLink, 'sessionId' | 'tools'> & { readonly forMs: number }): MadeLink {
    const code = newLinkCode()
    const now = this.#now()
    const until = new Date(now + Math.min(forMs, LONGEST_SHARE_MS)).toISOString()
    return this.#file.change((content) => {
      const link = { id: linkIdOf(code), sessionId, tools, created: new Date(now).toISOString(), until }
      const others = this.#current(content).links.filter(({ id }) => id !== link.id)
      return { content: { links: [...others, { ...link, sha256: hashOf(code) }] }, result: { link, code } }
    })
  }

  /** By its id, or all of a session. Running servers cut who follows it within a second. Throws SHARE_UNKNOWN and TOKENS_UNUSABLE. */
  remove(idOrSession: string): readonly ShareLink[] {
    return this.#file.change((content) => {
      const { links } = this.#current(content)
      const gone = links.filter(({ id, sessionId }) => id === idOrSession || sessionId === idOrSession)
      if (gone.length === 0) fail('SHARE_UNKNOWN', { name: JSON.stringify(idOrSession) })
      return { content: { links: links.filter((one) => !gone.includes(one)) }, result: gone.map(publicLink) }
    })
  }

  /** In the order in which they were made, without those that have ended. Throws TOKENS_UNUSABLE. */
  all(): readonly ShareLink[] {
    return this.stored().map(publicLink)
  }

  /** Takes those that it does not have. Returns how many. Throws TOKENS_UNUSABLE. */
  adopt(others: readonly StoredLink[]): number {
    return this.#file.change((content) => {
      const { links } = this.#current(content)
      const added = others.filter((other) => !links.some(({ id }) => id === other.id))
      return { content: { links: [...links, ...added] }, result: added.length }
    })
  }

  /** Undefined where no link has this code. Throws TOKENS_UNUSABLE. */
  find(code: string): ShareLink | undefined {
    const found = this.stored().find(({ sha256 }) => sha256 === hashOf(code))
    return found && publicLink(found)
  }

  /** With their hashes. Throws TOKENS_UNUSABLE. */
  stored(): readonly StoredLink[] {
    return this.#current(this.#file.read()).links
  }

  #current({ links }: ShareLinksFile): ShareLinksFile {
    return { links: links.filter(({ until }) => this.#now() < Date.parse(until)) }
  }
}

function publicLink({ sha256: _secret, ...link }: StoredLink): ShareLink {
  return link
}

function isShareLinksFile(value: unknown): value is ShareLinksFile {
  const links = (value as { readonly links?: unknown } | null)?.links
  return Array.isArray(links) && links.every(isStored)
}

function isStored(value: unknown): value is StoredLink {
  if (typeof value !== 'object' || value === null) return false
  const { id, sessionId, tools, created, until, sha256 } = value as Readonly<Record<string, unknown>>
  const areTexts = [id, sessionId, created].every((one) => typeof one === 'string')
  const ends = typeof until === 'string' && !Number.isNaN(Date.parse(until))
  return areTexts && ends && typeof tools === 'boolean' && isHash(sha256)
}
