/** A session server inside a program of your own, with one client: `server.ts STATE-DIRECTORY QUESTION` prints an answer. */
import { openServer } from '@parley-sessions/parley'
import { type Client, type ClientDelegate, connect, openLineTransport, textIn } from '@parley-sessions/parley/client'

const [home = `${process.cwd()}/.parley-state`, question = 'What is a session?'] = process.argv.slice(2)

const printing: ClientDelegate = {
  updated({ update }) {
    if (update.sessionUpdate === 'agent_message_chunk') process.stdout.write(textIn(update))
  },
  // A program without a user allows nothing.
  ask: async () => null,
}

const server = await openServer({ home, agent: 'guide' })
try {
  const client = await connectedClient()
  const { stopReason } = await client.prompt(await client.newSession(process.cwd()), question)
  process.stdout.write(`\n${stopReason}\n`)
  client.close()
} finally {
  await server.close()
}

function connectedClient(): Promise<Client> {
  const dial = async () => {
    const socket = await server.connect()
    return openLineTransport(socket, socket)
  }
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const info = { name: 'example', title: 'Example', version: '1.0.0' }
  return connect({ dial, pause, newId: () => crypto.randomUUID() }, printing, { info })
}
