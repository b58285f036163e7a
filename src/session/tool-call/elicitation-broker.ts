/** What a server asks of a person while one of its tools runs: put to the client of the turn, or declined in so many words. */
import type { Elicit } from '../../ports/client.ts'
import type { Content } from '../../ports/content.ts'
import type { Elicitation, ElicitationAnswer } from '../../ports/elicitation.ts'
import { sentenceOf } from '../client-services/client-request.ts'

export class ElicitationBroker {
  readonly #toolCallId: string
  readonly #remarks = new Set<string>()
  #hasAsked = false

  constructor(toolCallId: string) {
    this.#toolCallId = toolCallId
  }

  /** Why somebody was not asked or did not answer: whoever reads the result of the tool should know. */
  get remarks(): readonly Content[] {
    return [...this.#remarks].map((text) => ({ type: 'text', text }))
  }

  /** Somebody was asked for this call, or would have been. */
  get hasAsked(): boolean {
    return this.#hasAsked
  }

  /** Never accepts what nobody accepted; throws only what `isForOther` says that another client may still answer. */
  async answer(
    question: Elicitation,
    elicit: Elicit | undefined,
    isForOther: (error: unknown) => boolean = () => false,
  ): Promise<ElicitationAnswer> {
    this.#hasAsked = true
    try {
      return (await this.#asked(question, elicit)) ?? this.#declined(question)
    } catch (error) {
      if (isForOther(error)) throw error
      this.#remarks.add(`${question.server} asked for input and got none. ${sentenceOf(error)}`)
      return { action: 'cancel' }
    }
  }

  /** Undefined when the client has not got what it takes. */
  async #asked(question: Elicitation, elicit: Elicit | undefined): Promise<ElicitationAnswer | undefined> {
    const message = `${question.server}: ${question.message}`
    const toolCallId = this.#toolCallId
    if (question.mode === 'form') return elicit?.form?.({ message, schema: question.schema, toolCallId })
    const answer = await elicit?.url?.({ message, url: question.url, toolCallId })
    return answer === undefined ? undefined : { action: answer.action }
  }

  #declined({ mode, server }: Elicitation): ElicitationAnswer {
    const what = mode === 'form' ? 'to fill in a form' : 'to open a page'
    this.#remarks.add(`${server} asked ${what}, which this client does not offer. It was declined.`)
    return { action: 'decline' }
  }
}
