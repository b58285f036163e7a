/** What a person is asked for besides permission. Only the client of the prompt is asked; that it was and how it ended is stored, never what was said. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { Elicit, FormRequest, ClientPeer, UrlAnswer, UrlRequest } from '../../ports/client.ts'
import type { ElicitationAnswer } from '../../ports/elicitation.ts'
import type { Signal } from '../../ports/signal.ts'
import { type AskingHost, ONE_DAY_MS, withClientTimeout } from './client-request.ts'
import { assertElicitationSchema, parseElicitationContent } from '../domain/elicitation-form.ts'

const METHOD = 'elicitation'

interface Asked<Answer> {
  readonly mode: 'form' | 'url'
  readonly toolCallId: string | undefined
  readonly ask: (elicitationId: string, signal: Signal) => Promise<Answer>
}

export class Elicitations {
  readonly #host: AskingHost

  constructor(host: AskingHost) {
    this.#host = host
  }

  /** The modes that this client has; undefined when it has none. */
  of({ form, url }: ClientPeer): Elicit | undefined {
    if (form === undefined && url === undefined) return undefined
    return {
      ...(form === undefined ? {} : { form: (asked: FormRequest) => this.#form(asked, form) }),
      ...(url === undefined ? {} : { url: (asked: UrlRequest) => this.#url(asked, url) }),
    }
  }

  async #form(request: FormRequest, form: NonNullable<ClientPeer['form']>): Promise<ElicitationAnswer> {
    const { schema, toolCallId } = request
    assertElicitationSchema(schema)
    const ask = async (_id: string, signal: Signal): Promise<ElicitationAnswer> => {
      const { action, content } = await form(request, signal)
      return action === 'accept' ? { action, content: parseElicitationContent(schema, content) } : { action }
    }
    return this.#asked({ mode: 'form', toolCallId, ask })
  }

  async #url(request: UrlRequest, url: NonNullable<ClientPeer['url']>): Promise<UrlAnswer> {
    requireAddress(request.url)
    const ask = (elicitationId: string, signal: Signal) => url({ ...request, elicitationId }, signal)
    return this.#asked({ mode: 'url', toolCallId: request.toolCallId, ask })
  }

  /** A person takes the time that it takes; the turn's cancel ends it. */
  async #asked<Answer extends { readonly action: ElicitationAnswer['action'] }>(asked: Asked<Answer>): Promise<Answer> {
    const { mode, toolCallId, ask } = asked
    const elicitationId = this.#host.newId()
    const of = toolCallId === undefined ? {} : { toolCallId }
    const begun = await this.#host.tell({ kind: 'elicitation', elicitationId, mode, ...of })
    if (!begun) return fail('CLIENT_CANCELLED', { method: METHOD })
    try {
      const limits = { method: METHOD, limit: ONE_DAY_MS }
      const answer = await withClientTimeout(limits, this.#host, (signal) => ask(elicitationId, signal))
      await this.#host.tell({ kind: 'elicited', elicitationId, outcome: answer.action })
      return answer
    } catch (error) {
      const outcome = isParleyError(error, 'CLIENT_CANCELLED') ? 'cancel' : 'failed'
      await this.#host.tell({ kind: 'elicited', elicitationId, outcome })
      throw error
    }
  }
}

/** In clear text only to this very machine; and nobody's name or password travels in it. */
function requireAddress(url: string): void {
  const [, scheme = '', authority = ''] = /^(https?):\/\/([^/?#\\\s]+)(?:[/?#]\S*)?$/iu.exec(url) ?? []
  if (authority === '') refuse('the address is no page of the web')
  if (authority.includes('@')) refuse('the address has a name or a password in it')
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/iu.test(authority)
  if (scheme.toLowerCase() === 'http' && !isHere) refuse('the address is not https')
}

function refuse(reason: string): never {
  return fail('ELICITATION_INVALID', { reason })
}
