/** The prompts that this page has sent to a session: on their way, waiting in the queue, or running. */
import { type Signal, signal } from '@preact/signals'
import type { Client, PromptContent } from '../../client/client.ts'
import { randomHexId } from '../../client/connection/over-web-socket.ts'
import type { Draft, Said } from '../composer/draft.ts'
import { fileUrl } from '../composer/mentions.ts'
import { codeOf, sentenceOf } from './error-sentences.ts'
import type { Conversation } from '../thread/conversation.ts'

/** A prompt that is on its way: the server has not said yet that it has it. */
interface Sending {
  readonly promptId: string
  readonly text: string
}

interface SentTo {
  readonly client: Client
  readonly sessionId: string
  readonly talk: Conversation
  readonly draft: Draft
  /** The conversation has changed. */
  readonly changed: () => void
}

export class SentPrompts {
  readonly sending: Signal<readonly Sending[]> = signal([])
  readonly #to: SentTo
  /** Of the prompts whose result is awaited here. */
  readonly #withdrawals = new Map<string, AbortController>()
  readonly #accepted = new Set<string>()
  /** Prompts that are not in the conversation yet. */
  readonly #texts = new Map<string, Said>()
  /** Prompts that the turn ends for as soon as they wait. */
  readonly #steering = new Set<string>()
  #running: string | undefined

  constructor(to: SentTo) {
    this.#to = to
  }

  /** The text leaves the composer at once and stands above it until the server has it; if the server refuses it, it comes back. */
  async send(said: Said, when: 'now' | 'queued' = 'queued'): Promise<void> {
    const { client, sessionId, talk, draft } = this.#to
    const { text } = said
    const promptId = randomHexId()
    if (when === 'now') this.#steering.add(promptId)
    const withdrawn = new AbortController()
    this.#withdrawals.set(promptId, withdrawn)
    draft.trouble.value = ''
    this.#texts.set(promptId, said)
    this.sending.value = [...this.sending.value, { promptId, text }]
    try {
      await client.prompt(sessionId, contentOf(said), { promptId, withdrawn: withdrawn.signal })
      // A turn may be over before its beginning was sent.
      if (!withdrawn.signal.aborted) this.began(promptId, talk.lastTurn)
    } catch (error) {
      if (this.#accepted.has(promptId)) this.#ended(error)
      else draft.giveBack(said, sentenceOf(error))
    } finally {
      this.accept(promptId)
      this.#withdrawals.delete(promptId)
      this.#steering.delete(promptId)
      this.#texts.delete(promptId)
    }
  }

  /** Whether this page awaits the result of the prompt. One of another device, or of this page before it was loaded again, is not ours. */
  isOurs(promptId: string): boolean {
    return this.#withdrawals.has(promptId)
  }

  /** A prompt of ours is not sent, does not wait any longer, or its turn is cancelled. */
  withdraw(promptId: string): void {
    this.#withdrawals.get(promptId)?.abort()
    this.accept(promptId)
  }

  /** What was written in a prompt that is not in the conversation yet. */
  written(promptId: string): Said | undefined {
    return this.#texts.get(promptId)
  }

  /** Those that wait; the last one first, so that each goes back into the composer before those that were sent after it. */
  get waiting(): readonly string[] {
    return [...this.#texts.keys()].filter((promptId) => promptId !== this.#running).toReversed()
  }

  /** Whether the turn is to end for this prompt, which waits now; true once. */
  steers(promptId: string): boolean {
    return this.#steering.delete(promptId)
  }

  /** Undefined once no turn of ours runs. */
  runs(promptId: string | undefined): void {
    this.#running = promptId
  }

  /** The server has the prompt. */
  accept(promptId: string): void {
    this.#accepted.add(promptId)
    this.sending.value = this.sending.value.filter((one) => one.promptId !== promptId)
  }

  /** The turn of a prompt has begun: the server sends its words to all other clients, and not to this one. */
  began(promptId: string, turn: string | undefined): void {
    const said = this.#texts.get(promptId)
    if (said !== undefined && turn !== undefined) this.#to.talk.said(contentOf(said), turn)
    this.#texts.delete(promptId)
    this.#to.changed()
  }

  /** Only the answer to a prompt says that the turn was cut, or has failed, and only the client that sent it gets that answer. */
  #ended(error: unknown): void {
    const isCut = codeOf(error) === 'TURN_INTERRUPTED'
    this.#to.talk.ended(isCut ? sentenceOf(error) : `This turn failed: ${sentenceOf(error)}`)
    this.#to.changed()
  }
}

/** The text, what goes with it, and the files that it names. */
function contentOf({ text, attached, mentioned }: Said): readonly PromptContent[] {
  const links = mentioned.map(({ name, path }) => ({ type: 'resource_link', uri: fileUrl(path), name }))
  const said = text.trim() === '' ? [] : [{ type: 'text', text }]
  return [...said, ...attached.map(({ content }) => content), ...links]
}
