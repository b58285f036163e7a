/** Somebody who looks at the pages with the plainest of browsers: it follows nothing, and keeps one cookie. */
import type { DocsServer } from '../../../src/docs-search/server.ts'
import { KEY, raw, type RawAnswer } from '../served.ts'

const FORM = 'application/x-www-form-urlencoded'

export class Visitor {
  readonly #server: DocsServer
  readonly #headers: Readonly<Record<string, string>>
  cookie = ''

  constructor(server: DocsServer, headers: Readonly<Record<string, string>> = {}) {
    this.#server = server
    this.#headers = headers
  }

  static async signedIn(server: DocsServer, key = KEY): Promise<Visitor> {
    const visitor = new Visitor(server)
    await visitor.signIn(key)
    return visitor
  }

  get(path: string): Promise<RawAnswer> {
    return raw(this.#server, {
      path,
      method: 'GET',
      headers: { Accept: 'text/html', ...this.#cookies, ...this.#headers },
    })
  }

  async post(path: string, fields: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
    const origin = { Origin: `http://127.0.0.1:${this.#server.port}` }
    const headers = { 'Content-Type': FORM, ...origin, ...this.#cookies, ...this.#headers }
    const answer = await raw(this.#server, {
      path,
      method: 'POST',
      headers,
      body: new URLSearchParams(fields).toString(),
    })
    const [cookie] = answer.headers['set-cookie'] ?? []
    if (cookie !== undefined) this.cookie = cookie.split(';', 1)[0] ?? ''
    return answer
  }

  signIn(key: string, to = '/'): Promise<RawAnswer> {
    return this.post('/sign-in', { key, to })
  }

  get #cookies(): Readonly<Record<string, string>> {
    return this.cookie === '' ? {} : { Cookie: this.cookie }
  }
}
