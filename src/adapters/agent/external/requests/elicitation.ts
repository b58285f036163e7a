/** Forms and pages that an agent asks for: they go to the client whose prompt runs, and to no other. */
import { reasonOf } from '../../../../errors/parley-error.ts'
import type { Turn } from '../../../../ports/agent.ts'
import type { ElicitationAnswer } from '../../../../ports/values/elicitation.ts'
import { fieldsOf, isFields } from '../../../../rpc/json-rpc.ts'
import { RefusedRequest } from '../process/peer.ts'
import { PARAMS_INVALID } from '../process/wire-error.ts'

const CANCEL = { action: 'cancel' } as const
/** Pages whose end an agent may still report. */
const MAX_PAGES = 100

export class AgentElicitations {
  /** What tells a client that its page is done with, by the agent's ids of them. */
  readonly #pages = new Map<string, () => void>()

  /**
   * The answer for the agent: only what the user accepted is an acceptance. `unable` gets the reason why no user was asked. Throws
   * RefusedRequest.
   */
  async ask(params: unknown, turn: Turn | undefined, unable: (why: string) => void): Promise<ElicitationAnswer> {
    const { mode, message, requestedSchema, url, elicitationId, toolCallId } = fieldsOf(params)
    const about = { message: text('message', message), ...(typeof toolCallId === 'string' && { toolCallId }) }
    const { form, url: page } = turn?.client.elicit ?? {}
    try {
      switch (mode) {
        case 'form': {
          if (!isFields(requestedSchema)) throw new RefusedRequest(PARAMS_INVALID, 'requestedSchema must be an object')
          if (form === undefined) return unanswerable('fill in a form', unable)
          return await form({ ...about, schema: requestedSchema })
        }
        case 'url': {
          const address = text('url', url)
          if (page === undefined) return unanswerable('open a page', unable)
          const answer = await page({ ...about, url: address })
          if (typeof elicitationId === 'string') this.#remember(elicitationId, () => answer.complete())
          return { action: answer.action }
        }
        default:
          throw new RefusedRequest(PARAMS_INVALID, `Parley does not know the mode ${JSON.stringify(mode)}`)
      }
    } catch (error) {
      if (error instanceof RefusedRequest) throw error
      unable(reasonOf(error))
      return CANCEL
    }
  }

  /** `elicitation/complete`; an unknown id is ignored. */
  completed(params: unknown): void {
    const { elicitationId } = fieldsOf(params)
    if (typeof elicitationId !== 'string') return
    this.#pages.get(elicitationId)?.()
    this.#pages.delete(elicitationId)
  }

  #remember(id: string, complete: () => void): void {
    this.#pages.set(id, complete)
    const [oldest] = this.#pages.keys()
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest)
  }
}

function unanswerable(what: string, unable: (why: string) => void): ElicitationAnswer {
  unable(`no client is attached that sent the prompt and lets its user ${what}`)
  return CANCEL
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new RefusedRequest(PARAMS_INVALID, `${name} must be a text`)
}
