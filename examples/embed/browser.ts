/** The client in a page of yours: one question to a server elsewhere, with an access token that `parley token add` made. */
import { type ClientTransport, connect, textIn } from '@parley-sessions/parley/client'

export interface Place {
  /** As `parley serve` prints it, with `wss:` or `ws:` and the path `/acp`. */
  readonly url: string
  readonly token: string
  /** The directory of the session, on the server's machine. */
  readonly cwd: string
}

/** Resolves with the answer. */
export async function ask({ url, token, cwd }: Place, question: string): Promise<string> {
  let answer = ''
  const client = await connect(
    {
      dial: () => openSocket(url, token),
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      newId: () => crypto.randomUUID(),
    },
    {
      updated({ update }) {
        if (update.sessionUpdate === 'agent_message_chunk') answer += textIn(update)
      },
      // Show the question to your user, and resolve with the id of the option that was chosen.
      ask: async () => null,
    },
    { info: { name: 'my-page', title: 'My page', version: '1.0.0' } },
  )
  try {
    await client.prompt(await client.newSession(cwd), question)
    return answer
  } finally {
    client.close()
  }
}

/** One message per frame. A page cannot set headers, so the token is a subprotocol beside `acp.v1`. */
function openSocket(url: string, token: string): Promise<ClientTransport> {
  const socket = new WebSocket(url, ['acp.v1', `bearer.${token}`])
  const messages = new ReadableStream<string>({
    start(arrived) {
      socket.onmessage = ({ data }) => arrived.enqueue(String(data))
      socket.onclose = () => arrived.close()
    },
  })
  return new Promise((resolve, reject) => {
    socket.onerror = () => reject(new Error(`${url} cannot be reached`))
    socket.onopen = () =>
      resolve({
        messages: received(messages),
        send: (message) => socket.send(message),
        close: () => socket.close(),
      })
  })
}

/** Not every browser lets `for await` read a stream. */
async function* received(messages: ReadableStream<string>): AsyncGenerator<string> {
  const reader = messages.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}
