/** Passes an agent's updates to its turn, and notes what the end of the turn depends on. */
import type { Turn } from '../../../../ports/agent.ts'
import type { Content, ToolCallPatch } from '../../../../ports/values/content.ts'
import type { Quirks } from '../quirks.ts'
import type { SaidUpdate } from './read-update.ts'
import { TerminalOutputs } from './terminal-output.ts'

/** The protocol of `foreign` entries. */
export const PROTOCOL = 'acp/v1'
/** Characters of the answer's beginning by which an error in the clothes of an answer is known. */
const MAX_BEGINNING_CHARS = 500

export class TurnUpdates {
  readonly turn: Turn
  /** Of the MCP servers of the agent, and about them: none is answered yet. */
  openQuestions = 0
  readonly #quirks: Quirks
  readonly #terminals = new TerminalOutputs()
  /** Of the calls in this turn: whether they are open, and the title that stays. */
  readonly #calls = new Map<string, { readonly isOpen: boolean; readonly title: string | undefined }>()
  readonly #messageIds = new Set<string>()
  #beginning = ''
  #hasSaid = false
  #hasAnswered = false
  #wasRefused = false

  constructor(turn: Turn, quirks: Quirks) {
    this.turn = turn
    this.#quirks = quirks
  }

  /** The agent said something, whatever it was. */
  get hasSaid(): boolean {
    return this.#hasSaid
  }

  /** A user has refused a permission. */
  get wasRefused(): boolean {
    return this.#wasRefused
  }

  /** Whether all that was answered is an error of the agent's model. */
  get isErrorText(): boolean {
    return this.#quirks.errorAsText.some((beginning) => this.#beginning.startsWith(beginning))
  }

  get beginning(): string {
    return this.#beginning
  }

  get hasOpenCalls(): boolean {
    return [...this.#calls.values()].some(({ isOpen }) => isOpen)
  }

  /** The titles of the calls that have not ended. */
  get openCalls(): readonly string[] {
    return [...this.#calls].flatMap(([id, { isOpen, title }]) => (isOpen ? [title ?? id] : []))
  }

  /** A permission was refused, and nothing was said after that. */
  get isRefusedSilently(): boolean {
    return this.#wasRefused && !this.#hasAnswered
  }

  refused(): void {
    this.#wasRefused = true
    this.#hasAnswered = false
  }

  /** True for what comes late and is of this turn: of one of its messages or calls, or without an id. */
  owns(said: SaidUpdate): boolean {
    if (said.kind === 'chunk') return said.messageId === undefined || this.#messageIds.has(said.messageId)
    return said.kind === 'call' && this.#calls.has(said.toolCallId)
  }

  /** A call that only a permission request has named: whether it still runs is unknown. */
  met(toolCallId: string): void {
    if (!this.#calls.has(toolCallId)) this.#calls.set(toolCallId, { isOpen: false, title: undefined })
  }

  /** The turn has it when this returns. Resolves when there is room for more; a notice, when it was shown. */
  apply(said: SaidUpdate): Promise<void> | undefined {
    const { turn } = this
    switch (said.kind) {
      case 'chunk':
        return this.#chunk(said)
      case 'call':
        this.#hasSaid = true
        this.#hasAnswered = true
        return turn.report(said.toolCallId, this.#patch(said))
      case 'plan':
        this.#hasSaid = true
        return turn.plan(said.entries)
      case 'compaction':
        return turn.compact(said.compactionId, said.patch)
      case 'summary':
        return turn.summarize(said.compactionId, said.content)
      case 'notice':
        return turn.notify(said)
      case 'title':
        return turn.title(said.title)
      case 'usage':
        return turn.usage(said.usage)
      case 'foreign':
        return turn.foreign(PROTOCOL, said.update)
      default:
        return undefined
    }
  }

  #chunk({ role, content, messageId }: SaidUpdate & { readonly kind: 'chunk' }): Promise<void> | undefined {
    const { turn } = this
    if (role === 'user') return this.#fromUser(content, messageId)
    const part = { messageId }
    if (messageId !== undefined) this.#messageIds.add(messageId)
    if (role === 'thought') {
      this.#hasSaid = true
      return turn.think(content, part)
    }
    const text = content.type === 'text' ? content.text : undefined
    const isNoise = text !== undefined && this.#quirks.textNoise.some((beginning) => text.startsWith(beginning))
    if (isNoise) return turn.foreign(PROTOCOL, { sessionUpdate: 'agent_message_chunk', content })
    // Some agents begin each message with an empty chunk.
    if (text === '') return undefined
    this.#hasSaid = true
    this.#hasAnswered = true
    if (text !== undefined && this.#beginning.length < MAX_BEGINNING_CHARS) this.#beginning += text
    return turn.say(content, part)
  }

  /** The prompt is known here; anything else that the user is said to have said stays as it came. */
  #fromUser(content: Content, messageId: string | undefined): Promise<void> | undefined {
    const isPrompt =
      content.type === 'text' && this.turn.prompt.some((block) => block.type === 'text' && block.text === content.text)
    if (isPrompt) return undefined
    return this.turn.foreign(PROTOCOL, {
      sessionUpdate: 'user_message_chunk',
      content,
      ...(messageId && { messageId }),
    })
  }

  #patch({ toolCallId, patch, raw }: SaidUpdate & { readonly kind: 'call' }): ToolCallPatch {
    const known = this.#calls.get(toolCallId)
    const status = patch.status ?? (known === undefined ? 'pending' : undefined)
    const isOpen = status === undefined ? known?.isOpen === true : status === 'pending' || status === 'in_progress'
    const title = this.#quirks.keepTitle && known?.title !== undefined ? known.title : patch.title
    this.#calls.set(toolCallId, { isOpen, title: title ?? known?.title })
    const shown = this.#terminals.apply(toolCallId, patch, raw)
    const titled = title === undefined || title === known?.title ? {} : { title }
    const { title: _given, ...rest } = shown
    return { ...rest, ...titled }
  }
}
