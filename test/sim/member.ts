/** A simulated client: plain as an editor, or one that goes on where it was when its connection is lost. */
import type { Fields } from '../e2e/message.ts'
import { type Asked, Link, type Question } from './link.ts'
import type { Oversight } from './oversight.ts'
import { SimWire } from './wire.ts'

const cwd = '/home/ada'
const opening: Fields = { cwd, mcpServers: [] }

export type Reply = 'allow_once' | 'allow_always' | 'reject_once' | 'made up' | 'error' | 'cancelled'

export class Member {
  readonly name: string
  readonly links: Link[] = []
  readonly #oversight: Oversight
  #ids = 0
  #prompts = 0
  /** Names its prompts, and takes them along to its next connection. */
  readonly #goesOn: boolean

  constructor(oversight: Oversight, number: number) {
    this.#oversight = oversight
    this.name = `c${number}`
    this.#goesOn = number % 2 === 0
  }

  /** Its connection, while there is one. */
  get link(): Link | undefined {
    const link = this.links.at(-1)
    return link?.isOpen === true ? link : undefined
  }

  connect(accept: (wire: SimWire) => void): void {
    const former = this.links.at(-1)
    const link = new Link(new SimWire(), this.#oversight)
    this.links.push(link)
    accept(link.wire)
    this.#ask(link, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
    if (this.#goesOn && former !== undefined)
      for (const view of former.views) if (!view.isOver) this.#goOn(link, former, view)
  }

  create(): void {
    this.#request('session/new', opening)
  }

  open(method: 'session/load' | 'session/resume', sessionId: string): void {
    const { link } = this
    if (link === undefined || link.opening(sessionId) !== undefined) return
    // A plain resume of what is open goes on with what is on its way: nobody could say where it begins.
    const mayBeOpen = link.current(sessionId) !== undefined || link.isCreating
    if (method === 'session/resume' && mayBeOpen) return
    this.#ask(link, method, { sessionId, ...opening })
  }

  /** A prompt; with `again`, one that was sent before, if it had a name. */
  prompt(sessionId: string, again: boolean): void {
    const { link } = this
    const former = again ? this.#named(sessionId).at(-1) : undefined
    if (link === undefined) return
    this.#prompts += 1
    const words = former?.words ?? `${this.name} says ${this.#prompts}`
    const promptId =
      former?.promptId ?? (this.#goesOn || this.#prompts % 3 === 0 ? `${this.name}-p${this.#prompts}` : undefined)
    const meta = promptId === undefined ? {} : { _meta: { 'parley/promptId': promptId } }
    this.#ids += 1
    const params = { sessionId, prompt: [{ type: 'text', text: words }], ...meta }
    const named = promptId === undefined ? {} : { promptId }
    link.ask({ id: this.#ids, method: 'session/prompt', sessionId, params, answers: [], words, ...named })
  }

  cancel(sessionId: string): void {
    this.link?.write({ method: 'session/cancel', params: { sessionId } })
  }

  withdraw(index: number): void {
    const open =
      this.link?.asked.filter(({ method, answers }) => method === 'session/prompt' && answers.length === 0) ?? []
    const prompt = open[index % Math.max(1, open.length)]
    if (prompt !== undefined) this.link?.write({ method: '$/cancel_request', params: { requestId: prompt.id } })
  }

  close(sessionId: string): void {
    this.#request('session/close', { sessionId })
  }

  delete(sessionId: string): void {
    this.#request('session/delete', { sessionId })
  }

  rename(sessionId: string): void {
    this.#request('_parley/rename', { sessionId, title: `${this.name} names it ${this.#ids}` })
  }

  fork(sessionId: string, at: number | undefined): void {
    this.#request('_parley/fork', { sessionId, ...(at === undefined ? {} : { at }) })
  }

  /** Questions that came and that it has not answered; those withdrawn among them, since answers may cross withdrawals. */
  get questions(): readonly Question[] {
    return this.link?.questions.filter(({ replies }) => replies === 0) ?? []
  }

  reply(question: Question, reply: Reply): void {
    const { id, sessionId, toolCallId, optionIds } = question
    question.replies += 1
    if (optionIds.includes(reply)) this.#oversight.answered(sessionId, toolCallId, reply)
    if (reply === 'error') return this.link?.write({ id, error: { code: -32603, message: 'no' } })
    const outcome = reply === 'cancelled' ? { outcome: reply } : { outcome: 'selected', optionId: reply }
    this.link?.write({ id, result: { outcome } })
  }

  #request(method: string, params: Fields): void {
    if (this.link !== undefined) this.#ask(this.link, method, params)
  }

  #ask(link: Link, method: string, params: Fields): Asked {
    this.#ids += 1
    const asked = { id: this.#ids, method, params, sessionId: asText(params['sessionId']), answers: [] }
    link.ask(asked)
    return asked
  }

  #named(sessionId: string): readonly Asked[] {
    const all = this.links.flatMap(({ asked }) => asked)
    return all.filter((asked) => asked.promptId !== undefined && asked.sessionId === sessionId)
  }

  /** As a relay does: from the last entry seen, with the prompts that have had no answer. A load that was cut is asked again. */
  #goOn(link: Link, former: Link, { sessionId, cursor, replaying }: Link['views'][number]): void {
    if (link.opening(sessionId) !== undefined) return
    const open = former.asked.filter((asked) => isOpenPrompt(asked, sessionId))
    const prompts = open.map(({ id: requestId, promptId }) => ({ requestId, promptId }))
    const _meta = { 'parley/after': cursor, 'parley/prompts': prompts }
    const method = replaying ? 'session/load' : 'session/resume'
    const adoptedBy = this.#ask(link, method, { sessionId, ...opening, _meta })
    for (const asked of open) link.asked.push(Object.assign(asked, { adoptedBy }))
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isOpenPrompt({ promptId, sessionId, answers }: Asked, session: string): boolean {
  return promptId !== undefined && sessionId === session && answers.length === 0
}
