/** How push services and browsers recognise this server: RFC 8292. The keys are in the state directory, readable by the user alone. */
import { type JsonWebKey, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { join } from 'node:path'
import { createFile } from '../../state-files/atomic-file.ts'
import { readTextSync } from '../../state-files/bounded-read.ts'

const HOURS_MS = 12 * 60 * 60_000

export class Vapid {
  /** As browsers want it: the point of the curve, in base64url. */
  readonly publicKey: string
  readonly #key: JsonWebKey
  readonly #now: () => number

  /** Makes the keys once. New ones would make every subscription worthless. Throws for a file that is not ours. */
  constructor(home: string, now: () => number) {
    const path = join(home, 'push-keys.json')
    const made = (): string =>
      JSON.stringify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }))
    // Of two that make them at once, one does.
    if (readTextSync(path) === undefined) createFile(path, made())
    this.#key = JSON.parse(readTextSync(path) ?? '') as JsonWebKey
    this.#now = now
    const point = [this.#key.x, this.#key.y].map((half) => Buffer.from(half ?? '', 'base64url'))
    this.publicKey = Buffer.concat([Buffer.from([4]), ...point]).toString('base64url')
  }

  /** For one service, for hours. */
  authorization(endpoint: string, contact: string): string {
    const claims = {
      aud: new URL(endpoint).origin,
      exp: Math.floor((this.#now() + HOURS_MS) / 1000),
      sub: contact,
    }
    const parts = [{ typ: 'JWT', alg: 'ES256' }, claims].map((one) =>
      Buffer.from(JSON.stringify(one)).toString('base64url'),
    )
    const key = createPrivateKey({ key: this.#key, format: 'jwk' })
    const signature = sign('sha256', Buffer.from(parts.join('.')), { key, dsaEncoding: 'ieee-p1363' })
    return `vapid t=${parts.join('.')}.${signature.toString('base64url')}, k=${this.publicKey}`
  }
}
