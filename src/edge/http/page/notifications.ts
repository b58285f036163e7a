/**
 * `POST /push`: a device subscribes to notifications, with the address of its browser. `POST /answer`: the service
 * worker answers a question. The ticket of the notification is its credential.
 */
import type { TokenHolder } from '../../../credentials/access-tokens.ts'
import { isParleyError } from '../../../errors/parley-error.ts'
import type { PushTarget } from '../../../ports/values/push.ts'
import { fieldsOf } from '../../../rpc/json-rpc.ts'
import { BodyTooLong, type Exchange } from '../exchange.ts'
import { type Refusal, isOwnOrigin } from '../request-checks.ts'
import type { Route } from '../routes.ts'

export interface Notifying {
  /** Of the server, for the browser. */
  readonly key: string
  readonly on: boolean
  readonly answers: boolean
}

export interface Notifications {
  state(holder: TokenHolder): Promise<Notifying>
  /** Throws PUSH_SERVICE_UNKNOWN and TOKENS_UNUSABLE. */
  subscribe(holder: TokenHolder, target: PushTarget, answers: boolean): Promise<Notifying>
  unsubscribe(holder: TokenHolder): Promise<Notifying>
  /** Undefined for a ticket that was used or has expired. */
  answer(ticket: string, optionId: string): Promise<{ readonly counted: boolean } | undefined>
}

const MAX_BYTES = 8_192

export function notificationRoutes(desk: Notifications): readonly Route[] {
  const endpoint = new NotificationEndpoint(desk)
  return [
    { path: '/push', methods: ['POST'], access: 'credential', handle: (exchange) => endpoint.push(exchange) },
    { path: '/answer', methods: ['POST'], access: 'public', handle: (exchange) => endpoint.answer(exchange) },
  ]
}

class NotificationEndpoint {
  readonly #desk: Notifications

  constructor(desk: Notifications) {
    this.#desk = desk
  }

  async push(exchange: Exchange): Promise<void> {
    const { holder } = exchange
    if (holder === undefined || holder.kind === 'share') return exchange.refuse(NOT_FOR_LINKS)
    const fields = await fieldsIn(exchange)
    if (fields === undefined) return exchange.refuse(MALFORMED)
    const { off, endpoint, p256dh, auth, answers } = fields
    if (off === true) return told(exchange, await this.#desk.unsubscribe(holder))
    if (endpoint === undefined) return told(exchange, await this.#desk.state(holder))
    if (typeof endpoint !== 'string' || typeof p256dh !== 'string' || typeof auth !== 'string')
      return exchange.refuse(MALFORMED)
    try {
      told(exchange, await this.#desk.subscribe(holder, { endpoint, p256dh, auth }, answers === true))
    } catch (error) {
      if (!isParleyError(error, 'PUSH_SERVICE_UNKNOWN')) throw error
      exchange.refuse({ status: 400, sentence: error.message })
    }
  }

  /** Of our own service worker, whose browser may have no cookie at hand. */
  async answer(exchange: Exchange): Promise<void> {
    if (!isOwnOrigin(exchange.headers, exchange.reachable)) return exchange.refuse(FOREIGN)
    const { ticket, optionId } = (await fieldsIn(exchange)) ?? {}
    if (typeof ticket !== 'string' || typeof optionId !== 'string') return exchange.refuse(MALFORMED)
    const answered = await this.#desk.answer(ticket, optionId)
    if (answered === undefined) return exchange.refuseWrong(NO_TICKET)
    told(exchange, answered)
  }
}

/** Undefined for what is too long or no JSON. */
async function fieldsIn(exchange: Exchange): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!/^application\/json *(?:;|$)/iu.test(exchange.header('content-type') ?? '')) return undefined
  try {
    return fieldsOf(JSON.parse((await exchange.body(MAX_BYTES)).toString()))
  } catch (error) {
    if (error instanceof BodyTooLong || error instanceof SyntaxError) return undefined
    throw error
  }
}

function told(exchange: Exchange, answer: object): void {
  exchange.answer(200, { 'Content-Type': 'application/json' }, `${JSON.stringify(answer)}\n`)
}

const MALFORMED: Refusal = { status: 400, sentence: 'This is not what the page of this server sends.' }
const NOT_FOR_LINKS: Refusal = { status: 403, sentence: 'A link to a session has no notifications.' }
const FOREIGN: Refusal = { status: 403, sentence: 'Pages of other origins may not use this server.' }
const NO_TICKET: Refusal = {
  status: 401,
  sentence:
    'This notification cannot answer any more: it was used, it is older than an hour, or its device may not answer.',
}
