/** One hostile connection: throws inputs in pieces of any size, reads all answers, and notes what no server may do. */
import { RawSocket, connected } from '../../e2e/raw-socket.ts'
import type { Message } from '../../e2e/message.ts'

/** How long an answer may take before it counts as a hang. Milliseconds. */
const PATIENCE = 60_000

export class Attacker extends RawSocket {
  /** What is wrong, in sentences. */
  readonly problems: string[] = []
  /** Sessions that the server has made. */
  readonly made: string[] = []
  /** What was thrown that speaks of deleting. */
  readonly thrown: string[] = []

  static override async open(path: string): Promise<Attacker> {
    return new Attacker(await connected(path))
  }

  note(bytes: Buffer): void {
    if (bytes.length < 100_000 && bytes.includes('delete')) this.thrown.push(bytes.toString('latin1'))
  }

  /** Resolves when the server reads on. */
  async throw(bytes: Buffer): Promise<void> {
    if (!this.isEnded && !this.write(bytes)) await Promise.race([this.#drained(), this.closed])
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => this.socket.once('drain', () => resolve()))
  }

  /** A request with an id of the caller's. What gets no answer is a problem, and answered by an empty message. */
  async demand(id: string, method: string, params: unknown): Promise<Message> {
    void this.throw(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`))
    let timer: NodeJS.Timeout | undefined
    const hangs = new Promise<string>((resolve) => (timer = setTimeout(() => resolve('hangs'), PATIENCE)))
    const answer = await Promise.race([this.answerTo(id).catch(() => 'gone'), hangs])
    clearTimeout(timer)
    if (typeof answer !== 'string') return answer
    this.problems.push(`${method} got no answer: the connection ${answer}`)
    return { jsonrpc: answer }
  }

  answersTo(id: string): number {
    return this.received.filter((message) => message.id === id).length
  }

  protected override heard(message: Message, line: string): void {
    if (message.jsonrpc !== '2.0') this.impure(line)
    if (message.error !== undefined) this.#look(line, message.error)
    const made = message.result?.['sessionId']
    if (typeof made === 'string') this.made.push(made)
    // Nothing else is looked at again, and there is much of it.
    if (message.method === undefined && typeof message.id === 'string') super.heard(message, line)
  }

  protected override impure(line: string): void {
    this.problems.push(`a line that is no message: ${line.slice(0, 200)}`)
  }

  /** An error that tells of our insides, or that we did not foresee. */
  #look(line: string, { data, message }: NonNullable<Message['error']>): void {
    if (/\bat .+\.(?:m?js|ts):\d+|node_modules/u.test(line)) this.problems.push(`a stack trace: ${line.slice(0, 300)}`)
    if (data?.['code'] === 'INTERNAL_ERROR') this.problems.push(`an error from inside: ${message}`)
  }
}
