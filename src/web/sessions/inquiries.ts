/** What agents and MCP servers ask besides permission: forms to fill in and pages to visit. Each is answered once. */
import type { Signal } from '@preact/signals'
import type { ClientServices, FormAnswer, FormRequest } from '../../client/incoming/client-methods.ts'

export type Inquiry = FormInquiry | VisitInquiry

interface Common {
  readonly key: string
  readonly message: string
}

export interface FormInquiry extends Common {
  readonly kind: 'form'
  readonly schema: FormRequest['schema']
  answer(answer: FormAnswer): void
}

export interface VisitInquiry extends Common {
  readonly kind: 'visit'
  readonly url: string
  answer(action: VisitAnswer): void
}

/** A session, as far as something is asked in it. */
interface InquiringSession {
  readonly inquiries: Signal<readonly Inquiry[]>
}

type VisitAnswer = 'accept' | 'decline' | 'cancel'

let asked = 0

/** Asked in the session that they are for; one that is not open here is not asked. */
export function inquiriesOf(sessionOf: (id: string) => InquiringSession | undefined): ClientServices {
  return {
    forms: {
      ask: ({ sessionId, message, schema }, withdrawn) => {
        const asked = new Asking<FormAnswer>(sessionOf(sessionId), { action: 'cancel' })
        return asked.put({ kind: 'form', message, schema, ...asked.answering }, withdrawn)
      },
    },
    pages: {
      visit: ({ sessionId, message, url }, withdrawn) => {
        const asked = new Asking<VisitAnswer>(sessionOf(sessionId), 'cancel')
        return asked.put({ kind: 'visit', message, url, ...asked.answering }, withdrawn)
      },
    },
  }
}

class Asking<Answer> {
  readonly answering: { readonly key: string; readonly answer: (answer: Answer) => void }
  readonly #session: InquiringSession | undefined
  readonly #none: Answer
  #resolve: (answer: Answer) => void = () => undefined

  constructor(session: InquiringSession | undefined, none: Answer) {
    asked += 1
    this.#session = session
    this.#none = none
    this.answering = { key: `i${asked}`, answer: (answer) => this.#answer(answer) }
  }

  put(inquiry: Inquiry, withdrawn: AbortSignal): Promise<Answer> {
    const session = this.#session
    if (session === undefined || withdrawn.aborted) return Promise.resolve(this.#none)
    withdrawn.addEventListener('abort', () => this.#answer(this.#none))
    session.inquiries.value = [...session.inquiries.value, inquiry]
    return new Promise((resolve) => (this.#resolve = resolve))
  }

  #answer(given: Answer): void {
    const session = this.#session
    if (session === undefined) return
    session.inquiries.value = session.inquiries.value.filter(({ key }) => key !== this.answering.key)
    this.#resolve(given)
  }
}
