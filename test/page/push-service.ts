/** A push service on this machine, and the browser behind it that alone can read what comes: by RFC 8291, written anew. */
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Delivered {
  readonly kind: string
  readonly session: string
  readonly title: string
  readonly what: string
  readonly ticket?: string
  readonly options?: readonly { readonly optionId: string; readonly name: string }[]
}

export class ScriptedPushService {
  readonly #server: Server
  readonly #keys = createECDH('prime256v1')
  readonly #auth = randomBytes(16)
  readonly delivered: Delivered[] = []
  readonly headers: Readonly<Record<string, unknown>>[] = []
  /** With which it answers. */
  status = 201

  private constructor(server: Server) {
    this.#server = server
    this.#keys.generateKeys()
    server.on('request', (incoming, outgoing) => {
      const parts: Buffer[] = []
      incoming.on('data', (part: Buffer) => parts.push(part))
      incoming.on('end', () => {
        this.headers.push(incoming.headers)
        this.delivered.push(JSON.parse(this.#decrypted(Buffer.concat(parts))) as Delivered)
        outgoing.writeHead(this.status).end()
      })
    })
  }

  static async start(): Promise<ScriptedPushService> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new ScriptedPushService(server)
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** As a browser gives it to its page. */
  get subscription() {
    const keys = { p256dh: this.#keys.getPublicKey('base64url'), auth: this.#auth.toString('base64url') }
    return { endpoint: `${this.origin}/one`, keys }
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #decrypted(body: Buffer): string {
    const [salt, theirs] = [body.subarray(0, 16), body.subarray(21, 86)]
    const shared = this.#keys.computeSecret(theirs)
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.#keys.getPublicKey(), theirs])
    const secret = Buffer.from(hkdfSync('sha256', shared, this.#auth, info, 32))
    const part = (name: string, bytes: number) =>
      Buffer.from(hkdfSync('sha256', secret, salt, Buffer.from(`Content-Encoding: ${name}\0`), bytes))
    const decipher = createDecipheriv('aes-128-gcm', part('aes128gcm', 16), part('nonce', 12))
    decipher.setAuthTag(body.subarray(-16))
    const padded = Buffer.concat([decipher.update(body.subarray(86, -16)), decipher.final()])
    return padded.subarray(0, padded.lastIndexOf(2)).toString()
  }
}
