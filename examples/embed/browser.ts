/** The client in a page of yours: one question to a server elsewhere, with an access token that `parley token add` made. */
import { connect, overWebSocket, textIn } from '@parley-sessions/parley/client'

export interface Place {
  /** As `parley serve` prints it, with `wss:` or `ws:` and the path `/acp`. */
  readonly url: string
  readonly token: string
  /** The directory of the session, on the server's machine. */
  readonly cwd: string
}

/** Resolves with the answer, also when the connection is lost and comes back meanwhile. */
export async function ask({ url, token, cwd }: Place, question: string): Promise<string> {
  let answer = ''
  const client = await connect(
    overWebSocket(url, { token }),
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
