/** The questions of an MCP server during one tool call: put to the user through a client, or declined with a remark that the agent reads. */
import type { Elicit } from '../../ports/client-peer.ts'
import type { Content } from '../../ports/values/content.ts'
import type { Elicitation, ElicitationAnswer } from '../../ports/values/elicitation.ts'
import { sentenceOf } from '../client-services/client-request.ts'

export class ElicitationBroker {
  readonly #toolCallId: string
  readonly #remarks = new Set<string>()
  #hasAsked = false

  constructor(toolCallId: string) {
    this.#toolCallId = toolCallId
  }

  /** Why the user was not asked or did not answer; added to the result of the tool. */
  get remarks(): readonly Content[] {
    return [...this.#remarks].map((text) => ({ type: 'text', text }))
  }

  /** Whether the server asked for anything during this call. */
  get hasAsked(): boolean {
    return this.#hasAsked
  }

  /** Accepts only what a user accepted. Throws only an error for which `isForOther` is true: another client may still answer. */
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

  /** Undefined when the client cannot ask its user in this way. */
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
