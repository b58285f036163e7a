/** Sends messages to browsers. The endpoint was named by a client, so only push services that are known are ever connected to. */
import { createECDH } from 'node:crypto'
import { request } from 'undici'
import { addressScope } from '../../net-policy/address-scope.ts'
import { guardedDispatcher } from '../../net-policy/guarded-dispatcher.ts'
import type { PushMessage, PushService, PushTarget } from '../../ports/values/push.ts'
import { AUTH_BYTES, CURVE, encrypt } from './encrypt.ts'
import { Vapid } from './vapid.ts'

/** Of Chromium, Firefox, Safari and Edge: the host itself, or with a dot all below it. */
const KNOWN = ['fcm.googleapis.com', '.push.services.mozilla.com', '.push.apple.com', '.notify.windows.com']
const TIMEOUT_MS = 10_000
const MAX_ENDPOINT_CHARS = 2_048

export interface WebPushOptions {
  /** The state directory. */
  readonly home: string
  readonly now: () => number
  /** Origins of further services, which the user named: these may be anywhere. */
  readonly services: readonly string[]
  /** Whom a service may ask about us: an address of the web. */
  readonly contact: string
  readonly report: (error: unknown) => void
}

export class WebPush implements PushService {
  readonly #vapid: Vapid
  readonly #options: WebPushOptions
  readonly #guarded = guardedDispatcher(
    {
      allowed: (addresses) => addresses.filter(({ address }) => addressScope(address) === 'public'),
      refusal: (hostname) => new Error(`${hostname} is not in the public network, so no notification is sent there`),
    },
    { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS },
  )

  /** Throws when the keys cannot be read or made. */
  constructor(options: WebPushOptions) {
    this.#options = options
    this.#vapid = new Vapid(options.home, options.now)
  }

  get publicKey(): string {
    return this.#vapid.publicKey
  }

  takes({ endpoint, p256dh, auth }: PushTarget): boolean {
    if (endpoint.length > MAX_ENDPOINT_CHARS || !URL.canParse(endpoint)) return false
    const url = new URL(endpoint)
    const isKnown = url.protocol === 'https:' && url.port === '' && KNOWN.some((one) => isAt(url.hostname, one))
    const isPlain = url.username === '' && url.password === ''
    return isPlain && (isKnown || this.#isNamed(endpoint)) && isKey(p256dh) && bytesIn(auth) === AUTH_BYTES
  }

  async send(target: PushTarget, { text, seconds, urgency, topic }: PushMessage): Promise<'sent' | 'gone' | 'failed'> {
    if (!this.takes(target)) return 'gone'
    const { endpoint } = target
    try {
      const { statusCode, body } = await request(endpoint, {
        method: 'POST',
        headers: {
          Authorization: this.#vapid.authorization(endpoint, this.#options.contact),
          'Content-Encoding': 'aes128gcm',
          'Content-Type': 'application/octet-stream',
          TTL: String(seconds),
          Urgency: urgency,
          Topic: topic,
        },
        body: encrypt(text, target),
        // A redirect is not followed.
        ...(this.#isNamed(endpoint) ? { headersTimeout: TIMEOUT_MS } : { dispatcher: this.#guarded }),
      })
      await body.dump()
      if (statusCode < 300) return 'sent'
      if (statusCode === 404 || statusCode === 410) return 'gone'
      throw new Error(`The push service ${new URL(endpoint).host} answered with ${statusCode}.`)
    } catch (error) {
      this.#options.report(error)
      return 'failed'
    }
  }

  #isNamed(endpoint: string): boolean {
    return this.#options.services.includes(new URL(endpoint).origin)
  }
}

function isAt(host: string, known: string): boolean {
  return known.startsWith('.') ? host.endsWith(known) : host === known
}

/** A point of the curve; others would say something about our own key. */
function isKey(text: string): boolean {
  try {
    const probe = createECDH(CURVE)
    probe.generateKeys()
    probe.computeSecret(Buffer.from(text, 'base64url'))
    return text.length < 200
  } catch {
    return false
  }
}

function bytesIn(text: string): number {
  return Buffer.from(text, 'base64url').length
}
