/** A raw client over WebSocket: what is written are lines, each of which goes out as a frame. */
import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { WebSocket } from 'ws'
import { RawConnection } from './raw-connection.ts'

export interface Streams {
  readonly socket: WebSocket
  readonly input: Writable
  readonly output: PassThrough
  /** The code and the sentence with which it was closed. */
  readonly closed: Promise<readonly [code: number, sentence: string]>
}

/** Rejects when the server refuses the upgrade. */
export async function openStreams(url: string, token: string, protocols: readonly string[] = []): Promise<Streams> {
  const headers = { authorization: `Bearer ${token}` }
  const socket = new WebSocket(url, [...protocols], { headers, perMessageDeflate: false })
  const output = new PassThrough()
  let rest = ''
  const input = new Writable({
    write(bytes: Buffer, _encoding, done) {
      const lines = `${rest}${bytes.toString()}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) socket.send(line)
      done()
    },
  })
  socket.on('message', (data: Buffer) => output.write(`${data.toString()}\n`))
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.on('close', (code, sentence) => {
      output.end()
      resolve([code, sentence.toString()])
    })
  })
  // Whoever breaks off a handshake says so by closing.
  await Promise.race([once(socket, 'open'), closed.then(() => Promise.reject(new Error('it closed at once')))])
  // It broke; whoever waits hears that it is closed.
  socket.on('error', () => undefined)
  return { socket, input, output, closed }
}

export class RawWebSocket extends RawConnection {
  readonly socket: WebSocket
  readonly closed: Streams['closed']

  private constructor({ socket, input, output, closed }: Streams) {
    super(input, output)
    this.socket = socket
    this.closed = closed
    void closed.then(() => this.finish())
  }

  static async open(url: string, token: string, protocols?: readonly string[]): Promise<RawWebSocket> {
    return new RawWebSocket(await openStreams(url, token, protocols))
  }

  /** Past the first exchange. */
  static async greeted(url: string, token: string, protocols?: readonly string[]): Promise<RawWebSocket> {
    const client = await RawWebSocket.open(url, token, protocols)
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    return client
  }

  cut(): void {
    this.socket.terminate()
  }

  async leave(): Promise<void> {
    this.cut()
    await this.closed
  }
}
