/** The older form of a sink, for edges that still read the state of a live session. It goes when the last of them is migrated. */
import type { ClientPeer } from '../../ports/client.ts'
import type { Notice } from '../../ports/content.ts'
import type { Entry } from '../domain/entries.ts'
import type { SessionConfig, SessionPush, SessionSink, SubscribedClient } from '../handle.ts'

export interface SubscriptionSink {
  take(entries: readonly Entry[]): void
  congested(): boolean
  room(): Promise<void>
  failed(error: unknown): void
  cutOff(error: unknown): void
  notify?(notice: Notice): void
  changed?(what: Change): void
}

export type Change = 'presence' | 'mcp' | 'closed' | 'deleted'

export interface AttachOptions {
  readonly opening: SessionConfig
  readonly client: SubscribedClient
  readonly lends?: ClientPeer
}

export function sessionSink(sink: SubscriptionSink): SessionSink {
  return {
    push: (push) => pass(sink, push),
    isBackpressured: () => sink.congested(),
    drained: () => sink.room(),
    cutOff: (error) => sink.cutOff(error),
  }
}

function pass(sink: SubscriptionSink, push: SessionPush): void {
  switch (push.kind) {
    case 'entries':
      if (push.entries.length > 0) sink.take(push.entries)
      return
    case 'notice':
      return sink.notify?.(push.notice)
    case 'failed':
      return sink.failed(push.error)
    case 'ended':
      return sink.changed?.(push.how)
    default:
      return sink.changed?.(push.kind)
  }
}
