/** Keeps what a server offers true: listed again, each kind on its own, when the server says that it changed. */
import { coalesce } from '../../../../async/coalesce.ts'
import { waitAtMost } from '../../../../async/with-timeout.ts'
import type { McpServer } from '../../../../ports/tools.ts'
import { NOTHING, type Offer } from '../../host/mcp-types.ts'
import { followChanges } from './follow.ts'
import { KINDS, list, type Kind, type Listing } from './listing.ts'
import { reasonIn } from '../request/request.ts'
import type { ConnectAttempt, Session } from '../connect/connect-attempt.ts'

interface Life {
  /** Aborts when the connection ends. */
  readonly over: AbortSignal
  readonly lose: (reason: string) => void
}

export interface Kept {
  readonly offer: () => Offer
  readonly latencyMs: () => number
  readonly freshen: () => void
}

/** Resolves when all was listed for the first time; of resources and prompts that take their time, the tools do not wait. */
export async function keepOffer(session: Session, attempt: ConnectAttempt, { over, lose }: Life): Promise<Kept> {
  const { request, around, redact } = attempt
  const { clock, limits } = around
  const listing: Listing = { ...session, holds: new Map(), timeoutMs: limits.connectMs }
  const listedAt = new Map<Kind, number>()
  let offer = NOTHING
  let latencyMs = 0

  async function listNow(kind: Kind, signal: AbortSignal): Promise<boolean> {
    const since = clock.monotonicNow()
    const before = offer
    listedAt.set(kind, since)
    const listed = await list(kind, listing, signal)
    latencyMs = Math.round(clock.monotonicNow() - since)
    offer = { ...before, ...offer, ...listed }
    return JSON.stringify(offer) !== JSON.stringify(before)
  }

  async function relist(kind: Kind): Promise<boolean> {
    try {
      const changed = await listNow(kind, over)
      if (changed && !over.aborted) request.onOffer()
      return changed
    } catch (error) {
      // What is known stays valid until the server is lost or says more.
      if (!over.aborted) session.warn(`its ${kind} could not be listed again: ${redact(reasonIn(error))}`)
      return false
    } finally {
      firstListed.get(kind)?.()
    }
  }

  const firstListed = new Map<Kind, () => void>()
  const others = KINDS.filter((kind) => kind !== 'tools').map(
    (kind) => new Promise<void>((resolve) => firstListed.set(kind, resolve)),
  )
  const { listPauseMs: pauseMs, idleListPauseMs: idlePauseMs } = limits
  const requestListing = new Map<Kind, () => void>(
    KINDS.map((kind) => [kind, coalesce(() => relist(kind), { clock, pauseMs, idlePauseMs, signal: over })]),
  )
  let begun = false
  let changedEarly = false
  const onChanged = (kind: Kind): void => {
    // Two listings of the tools at once would mix their pages.
    if (begun || kind !== 'tools') requestListing.get(kind)?.()
    else changedEarly = true
  }
  const freshen = (): void => {
    for (const kind of KINDS) {
      const age = clock.monotonicNow() - (listedAt.get(kind) ?? 0)
      const isOld = age >= Math.max(limits.staleMs, listing.holds.get(kind) ?? 0)
      if (isOld && !tells(kind, session, request.server)) requestListing.get(kind)?.()
    }
  }
  session.listen({ onChanged, onGone: lose })
  followChanges(session.client, { clock, signal: over, onChanged, onGone: lose })
  await listNow('tools', request.signal)
  begun = true
  for (const kind of KINDS) if (kind !== 'tools' || changedEarly) onChanged(kind)
  await waitAtMost(Promise.all(others), { clock, ms: limits.moreMs, signals: [over, request.signal] })
  return { offer: () => offer, latencyMs: () => latencyMs, freshen }
}

/** Over the older HTTP a server may say that it tells of changes and have no stream to do so. */
function tells(kind: Kind, { client }: Session, server: McpServer): boolean {
  const announced = client.getServerCapabilities()?.[kind]?.listChanged === true
  return announced && (server.type === 'stdio' || client.getProtocolEra() === 'modern')
}
