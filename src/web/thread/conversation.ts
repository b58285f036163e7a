/** The conversation of a session as the page shows it: its items, and what is true of the whole. Told at most once a frame. */
import { type Signal, batch, signal } from '@preact/signals'
import type { PermissionQuestion } from '../../client/incoming/permission-requests.ts'
import type { Command, Content, PlanEntry, UpdateParams } from '../../client/incoming/updates.ts'
import { type Item, type MessageItem, type Resolved, messageKey, placeOf } from '../../client/transcript/items.ts'
import { GrowingTranscript, type Page, withOlder } from '../../client/transcript/transcript.ts'

export interface ContextUse {
  readonly used: number
  readonly size: number
  readonly cost?: { readonly amount: number; readonly currency: string }
}

/** Kinds that change how a session stands and are no part of what was said. */
const STANDING = new Set(['usage_update', 'current_mode_update', 'config_option_update'])

export class Conversation {
  #transcript = new GrowingTranscript()
  /** Counts what has been shown. */
  readonly changes = signal(0)
  readonly plan: Signal<readonly PlanEntry[]> = signal([])
  readonly commands: Signal<readonly Command[]> = signal([])
  readonly title: Signal<string | null> = signal(null)
  readonly usage: Signal<ContextUse | undefined> = signal(undefined)
  #isChanged = false
  /** Messages that we have said. */
  readonly #own = new Set<string>()

  get items(): readonly Item[] {
    return this.#transcript.items
  }

  take(params: UpdateParams): void {
    const { update } = params
    // A server tells it to a client that comes back, though that client has said it itself.
    if (this.#isOwn(update)) return
    this.#isChanged = true
    if (update.sessionUpdate === 'usage_update') this.usage.value = usageIn(update) ?? this.usage.peek()
    if (!STANDING.has(update.sessionUpdate)) this.#transcript.take(update, placeOf(params))
  }

  /** A prompt of ours, which the server does not tell us; it stands before what its turn has brought. */
  said(content: readonly Content[], turn: string): void {
    const messageId = `${turn}-user`
    if (this.#own.has(messageId)) return
    this.#own.add(messageId)
    const { items, plan, commands, title } = this.#transcript
    const id = messageKey('user', messageId)
    if (items.some((item) => item.id === id)) return
    const at = items.findIndex((item) => item.turn === turn)
    const now = Date.now()
    const prompt: Item = { kind: 'message', role: 'user', id, messageId, content, turn, at: { first: now, last: now } }
    const next = items.toSpliced(at === -1 ? items.length : at, 0, prompt)
    this.#transcript = new GrowingTranscript({ items: next, plan, commands, title })
    this.#isChanged = true
  }

  /** The newest turn of ours did not end by itself; `text` is as the server tells it to others. */
  ended(text: string): void {
    const { lastTurn } = this
    const messageId = `${lastTurn}-end`
    const id = messageKey('agent', messageId)
    if (lastTurn === undefined || this.items.some((item) => item.id === id)) return
    this.#own.add(messageId)
    this.#isChanged = true
    this.#transcript.cancel()
    const now = Date.now()
    const place = { turn: lastTurn, at: { first: now, last: now } }
    const content = { type: 'text', text }
    this.#transcript.take({ sessionUpdate: 'agent_message_chunk', messageId, content }, place)
  }

  /** The turn of the newest item that has one. */
  get lastTurn(): string | undefined {
    return this.items.findLast(({ turn }) => turn !== undefined)?.turn
  }

  /**
   * When the newest turn began, as far as it is here, on the clock of this device, where it is `now`. Times are those of the
   * server: one that is still to come says how far this clock is behind.
   */
  beganAt(now: number): number | undefined {
    const { lastTurn } = this
    const first = this.items.find(({ turn }) => turn !== undefined && turn === lastTurn)?.at?.first
    const newest = this.items.reduce((latest, { at }) => Math.max(latest, at?.last ?? 0), 0)
    return first === undefined ? undefined : first - Math.max(0, newest - now)
  }

  asked(question: PermissionQuestion): void {
    this.#isChanged = true
    this.#transcript.asked(question)
  }

  /** `elsewhere` is said only where nothing better is known. */
  answered(question: PermissionQuestion, outcome: Resolved['outcome'], by?: string): void {
    const { requestId = '', toolCall } = question
    const { toolCallId } = toolCall
    const known = this.#transcript.permission(toolCallId)
    if (outcome.outcome === 'elsewhere' && known?.requestId === requestId && known.resolved !== undefined) return
    this.#isChanged = true
    this.#transcript.resolved({ requestId, toolCallId, outcome, at: Date.now(), ...(by !== undefined && { by }) })
  }

  resolved(resolved: Resolved): void {
    this.#isChanged = true
    this.#transcript.resolved(resolved)
  }

  cancel(): void {
    this.#isChanged = true
    this.#transcript.cancel()
  }

  /** What was before all that is here. */
  prepend({ updates, resolved }: Page): void {
    this.#isChanged = true
    const shown = updates.filter(({ update }) => !this.#isOwn(update) && !STANDING.has(update.sessionUpdate))
    this.#transcript = new GrowingTranscript(withOlder(this.#transcript, { updates: shown, resolved }))
    this.flush()
  }

  #isOwn(update: UpdateParams['update']): boolean {
    return this.#own.has(String(update['messageId']))
  }

  flush(): void {
    if (!this.#isChanged) return
    this.#isChanged = false
    const { plan, commands, title } = this.#transcript
    batch(() => {
      this.plan.value = plan
      this.commands.value = commands
      this.title.value = title
      this.changes.value += 1
    })
  }
}

function usageIn({ used, size, cost }: UpdateParams['update']): ContextUse | undefined {
  if (typeof used !== 'number' || typeof size !== 'number') return undefined
  const { amount, currency } = (cost ?? {}) as { readonly amount?: unknown; readonly currency?: unknown }
  const isPriced = typeof amount === 'number' && typeof currency === 'string'
  return { used, size, ...(isPriced ? { cost: { amount, currency } } : {}) }
}

/** The text of a message, without what is no text. */
export function messageText({ content }: MessageItem): string {
  return content.map(({ text, type }) => (type === 'text' ? (text ?? '') : '')).join('')
}
