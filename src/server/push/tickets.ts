/** Tickets with which a notification can answer one question, once, within an hour, by an option that allows or rejects this one call. */
import { hashOf, newToken } from '../../credentials/secret.ts'
import type { PermissionOption } from '../../ports/values/content.ts'

const HOUR_MS = 60 * 60_000
const MAX_TICKETS = 1_000
/** A browser shows two buttons. */
const BUTTONS = 2

export interface Ticket {
  /** The hash of the device's credential. */
  readonly device: string
  readonly sessionId: string
  readonly requestId: string
  readonly optionIds: readonly string[]
  readonly until: number
}

/** In memory: after a restart of the server a notification leads to the page. */
export class Tickets {
  readonly #now: () => number
  /** By the hash of their secret, the oldest first. */
  readonly #tickets = new Map<string, Ticket>()

  constructor(now: () => number) {
    this.#now = now
  }

  issue(ticket: Omit<Ticket, 'until'>): string {
    const secret = newToken()
    for (const oldest of this.#tickets.keys()) {
      if (this.#tickets.size < MAX_TICKETS) break
      this.#tickets.delete(oldest)
    }
    this.#tickets.set(hashOf(secret), { ...ticket, until: this.#now() + HOUR_MS })
    return secret
  }

  /** Undefined for one that was used, is too old, or is not for this option; then it is used up too. */
  take(secret: string, optionId: string): Ticket | undefined {
    const hash = hashOf(secret)
    const ticket = this.#tickets.get(hash)
    this.#tickets.delete(hash)
    return ticket !== undefined && this.#now() < ticket.until && ticket.optionIds.includes(optionId)
      ? ticket
      : undefined
  }
}

/**
 * None for a call that is asked about each time: it has to be seen whole. Such a question offers no option for all calls like it.
 * None that allows where the notification does not show the title whole (`isWhole`): what is cut off may matter.
 */
export function buttonsOf(options: readonly PermissionOption[], isWhole: boolean): readonly PermissionOption[] {
  if (!options.some(({ kind }) => kind === 'allow_always')) return []
  return (isWhole ? ['allow_once', 'reject_once'] : ['reject_once'])
    .flatMap((wanted) => options.find(({ kind }) => kind === wanted) ?? [])
    .slice(0, BUTTONS)
}
