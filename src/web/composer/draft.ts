/** What a reader has written in a session and not sent yet: the text, the files that go with it, and those that it mentions. */
import { type Signal, signal } from '@preact/signals'
import { words } from '../i18n/language.ts'
import { keep, keptText } from '../sessions/kept.ts'
import type { AttachedFile, Takes } from './attachments.ts'
import { type Mention, mentionedIn } from './mentions.ts'

/** What was written, and what goes with it. */
export interface Said {
  readonly text: string
  readonly attached: readonly AttachedFile[]
  readonly mentioned: readonly Mention[]
}

export class Draft {
  readonly text: Signal<string>
  readonly attached: Signal<readonly AttachedFile[]> = signal([])
  /** A sentence at the composer: what could not be done, and why. */
  readonly trouble = signal('')
  /** Counts the wishes to write. */
  readonly wantsFocus = signal(0)
  readonly #key: string
  /** Files that were chosen for an `@` of the text, by their names. */
  readonly #mentioned = new Map<string, Mention>()

  constructor(sessionId: string) {
    this.#key = `draft.${sessionId}`
    this.text = signal(keptText(this.#key))
  }

  get isEmpty(): boolean {
    return this.text.value.trim() === '' && this.attached.value.length === 0
  }

  write(text: string): void {
    this.text.value = text
    keep(this.#key, text)
  }

  /** The text to begin with, and the cursor in it. */
  rewrite(text: string | undefined): void {
    if (text !== undefined) this.write(text)
    this.wantsFocus.value += 1
  }

  /** `takes`: what the agent takes besides text. */
  async attach(files: readonly File[], takes: Takes): Promise<void> {
    if (files.length === 0) return
    const { attach } = await import('./attachments.ts')
    const made = await Promise.all(files.map((file) => attach(file, takes)))
    const refusals = made.flatMap((one) => ('refusal' in one ? [one.refusal] : []))
    this.trouble.value = refusals.join(' ')
    this.attached.value = [...this.attached.value, ...made.filter((one) => 'key' in one)]
  }

  detach(key: string): void {
    this.attached.value = this.attached.value.filter((one) => one.key !== key)
  }

  mention(file: Mention): void {
    this.#mentioned.set(file.name, file)
  }

  /** What is to be sent; the draft is empty then. Undefined where there is nothing, or too much for one prompt. */
  take(): Said | undefined {
    if (this.isEmpty) return undefined
    const text = this.text.value
    const said = { text, attached: this.attached.value, mentioned: mentionedIn(text, [...this.#mentioned.values()]) }
    if (sizeOf(said) > MAX_PROMPT) {
      this.trouble.value = words().attaching.together
      return undefined
    }
    this.write('')
    this.attached.value = []
    this.#mentioned.clear()
    return said
  }

  /** A prompt that was not sent, or taken back, comes before what is being written. */
  giveBack({ text, attached, mentioned }: Said, why: string): void {
    this.trouble.value = why
    for (const file of mentioned) this.mention(file)
    this.attached.value = [...attached, ...this.attached.value]
    this.write(this.text.value === '' ? text : `${text}\n\n${this.text.value}`)
  }
}

/** A message of the server is at most 16 MiB. */
const MAX_PROMPT = 15 * 1024 * 1024

function sizeOf({ text, attached }: Said): number {
  const parts = attached.map(({ content }) => (content.data ?? '').length + 3 * (content.resource?.text ?? '').length)
  return parts.reduce((sum, one) => sum + one, 3 * text.length)
}
