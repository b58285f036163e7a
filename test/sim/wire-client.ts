/** A raw ACP client over a pipe to an owner in this process, as many of them as a test wants. */
import { PassThrough } from 'node:stream'
import { serveConnection } from '../../src/edge/acp/connection.ts'
import type { ServerContext } from '../../src/edge/acp/version.ts'
import type { ProtocolVersions } from '../../src/edge/acp/versions.ts'
import { openStreamTransport } from '../../src/edge/transport/streams.ts'
import { type Fields, type SeenUpdate, textOf, updatesIn } from '../e2e/message.ts'
import { RawConnection } from '../wire/raw-connection.ts'

export class WireClient extends RawConnection {
  readonly #input: PassThrough
  readonly #output: PassThrough
  readonly #served: Promise<void>

  constructor(server: ServerContext, versions?: ProtocolVersions, highWaterMark = 64 * 1024) {
    const input = new PassThrough()
    const output = new PassThrough({ highWaterMark })
    super(input, output)
    this.#input = input
    this.#output = output
    for (const end of ['close', 'end']) output.on(end, () => this.finish())
    this.#served = serveConnection(openStreamTransport(input, output), server, versions)
  }

  /** The server has let go of it without being asked to. */
  get isCutOff(): boolean {
    return this.#output.destroyed
  }

  /** From now on it reads nothing. */
  stall(): void {
    this.#output.pause()
  }

  readOn(): void {
    this.#output.resume()
  }

  /** What the server has written and nobody has read. */
  get owed(): number {
    return this.#output.writableLength + this.#output.readableLength
  }

  /** The latest message that fits, of those received. */
  last(method: string): Fields | undefined {
    return this.received.findLast((message) => message.method === method)?.params
  }

  all(method: string): readonly Fields[] {
    return this.received.flatMap((message) => (message.method === method ? [message.params ?? {}] : []))
  }

  get updates(): readonly SeenUpdate[] {
    return updatesIn(this.received)
  }

  get text(): string {
    return this.updates
      .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
      .map(textOf)
      .join('')
  }

  /** It goes, as a window is closed; resolves when the server has let go of it. */
  async leave(): Promise<void> {
    this.#input.end()
    this.#output.resume()
    await this.#served
  }
}
