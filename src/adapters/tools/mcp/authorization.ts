/** Getting past a server that lets nobody in unknown: the person is sent to its authorization server, once for each refusal. */
import { UnauthorizedError, type OAuthClientProvider, type Transport } from '@modelcontextprotocol/client'

export interface Authorization {
  /** Keeps tokens and sends people to the page where they say yes. */
  readonly provider: OAuthClientProvider
  /** What the browser brought back from there; rejects when nobody came. */
  readonly callback: () => Promise<URLSearchParams>
}

export interface Finishing extends Transport {
  finishAuth(params: URLSearchParams): Promise<void>
}

/** A message that was refused unread is sent again when the refusal was answered, and no more than so often. */
const MOST_ROUNDS = 2

/** What is under way with the person, if anything: nobody's patience with a server counts while that lasts. */
export type Pending = () => Promise<void> | undefined

export function authorizing(transport: Finishing, { callback }: Authorization): Pending {
  const send = transport.send.bind(transport)
  /** Many messages may be refused at once; the person is asked once. */
  let finishing: Promise<void> | undefined

  async function finish(): Promise<void> {
    finishing ??= callback().then((params) => transport.finishAuth(params))
    try {
      await finishing
    } finally {
      finishing = undefined
    }
  }

  transport.send = async (message, options) => {
    for (let round = 0; ; round++) {
      try {
        return await send(message, options)
      } catch (error) {
        if (!(error instanceof UnauthorizedError) || round === MOST_ROUNDS) throw error
        await finish()
      }
    }
  }
  return () => finishing
}
