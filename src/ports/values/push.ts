/** Messages that a browser shows while the page is closed, sent through the push service of its vendor. */

/** Where one browser gets them, as it said itself. */
export interface PushTarget {
  readonly endpoint: string
  /** Its public key and the secret that it shares with us, in base64url: only it can read what is sent. */
  readonly p256dh: string
  readonly auth: string
}

export interface PushMessage {
  readonly text: string
  /** How long the service keeps it for a browser that is away. */
  readonly seconds: number
  readonly urgency: 'high' | 'normal'
  /** Of several that wait with one topic only the last is delivered. */
  readonly topic: string
}

export interface PushService {
  /** By which a browser knows that a message is from this server. Base64url. */
  readonly publicKey: string
  /** False for an endpoint to which nothing is sent: it is no push service that is known, or it is no key. */
  takes(target: PushTarget): boolean
  /** `gone`: the browser is subscribed no longer. Never throws; what fails is reported. */
  send(target: PushTarget, message: PushMessage): Promise<'sent' | 'gone' | 'failed'>
}
