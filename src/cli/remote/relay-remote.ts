/** `parley acp --server NAME`: the relay of an editor whose server is on another machine. */
import { Writable } from 'node:stream'
import { agentName } from '../../config/agent-choice.ts'
import type { Config } from '../../config/settings.ts'
import { fail } from '../../errors/parley-error.ts'
import { RemotePaths, type PathMap, parseMap } from '../../relay/remote-paths.ts'
import { relay } from '../../relay/relay.ts'
import { newUuid } from '../output/terminal/pace.ts'
import { unblockedStdout } from '../relay.ts'
import { complain } from '../say.ts'
import { RemoteDialer } from './dial-remote.ts'
import { serverOf } from './known-servers.ts'

export interface RemoteFlags {
  readonly maps: readonly string[]
  readonly lends: boolean
}

/** Until the editor closes stdin. Throws CONFIG_INVALID, SERVER_UNKNOWN and TOKENS_UNUSABLE. */
export async function relayToRemote(config: Config, { maps, lends }: RemoteFlags): Promise<void> {
  const server = serverOf(config)
  const remotePaths = new RemotePaths({ server: server.name, maps: maps.map(mapFrom), lends, say: complain })
  const output = unblockedStdout()
  await relay({
    input: throughLines(process.stdin, (line) => remotePaths.fromEditor(line)),
    output: lineWriter(output, (line) => remotePaths.toEditor(line)),
    handshake: {
      // The other machine's administrator replaces an older server there, not its clients.
      version: '',
      agent: config.agentChosen ? agentName(config.agent) : undefined,
      agentChosen: config.agentChosen,
      token: config.clientToken,
    },
    server: new RemoteDialer(server),
    offers: { find: async () => undefined, remember: async () => undefined },
    newId: newUuid,
    say: complain,
  })
}

function mapFrom(text: string): PathMap {
  const reason = 'it must be LOCAL=REMOTE, both absolute paths'
  return parseMap(text) ?? fail('CONFIG_INVALID', { key: '--map', value: JSON.stringify(text), reason })
}

async function* throughLines(input: AsyncIterable<Buffer>, change: (line: string) => string): AsyncGenerator<Buffer> {
  const lines = new Lines()
  for await (const bytes of input) {
    const whole = lines.push(bytes)
    if (whole.length > 0) yield Buffer.from(whole.map((line) => `${change(line)}\n`).join(''))
  }
  const rest = lines.rest()
  if (rest !== '') yield Buffer.from(change(rest))
}

function lineWriter(output: NodeJS.WritableStream, change: (line: string) => string): Writable {
  const lines = new Lines()
  const writer = new Writable({
    write(bytes: Buffer, _encoding, done) {
      const text = lines
        .push(bytes)
        .map((line) => `${change(line)}\n`)
        .join('')
      if (text === '' || output.write(text)) return done()
      const go = (): void => {
        output.off('drain', go).off('close', go)
        done()
      }
      output.once('drain', go).once('close', go)
    },
    final(done) {
      output.end(() => done())
    },
  })
  output.on('error', (error) => writer.destroy(error))
  return writer
}

/** Whole lines out of pieces of bytes; a character may be cut between two. */
class Lines {
  readonly #decoder = new TextDecoder()
  #rest = ''

  push(bytes: Buffer): readonly string[] {
    const lines = `${this.#rest}${this.#decoder.decode(bytes, { stream: true })}`.split('\n')
    this.#rest = lines.pop() ?? ''
    return lines.filter((line) => line.trim() !== '')
  }

  rest(): string {
    return this.#rest.trim()
  }
}
