/** The clients of one node. Each is served wherever its sessions are, and is notified when they are paused. */
import { serveConnection } from '../../../edge/acp/connection.ts'
import type { ServerContext } from '../../../edge/acp/version.ts'
import { openStreamTransport } from '../../../edge/transport/streams.ts'
import type { Transport } from '../../../edge/transport/transport.ts'
import type { CountedAnswer, OutsideAnswer } from '../../../session/handle.ts'
import { requestOver } from '../../admin/one-request.ts'
import { linkedPair } from '../links/linked-pair.ts'
import { ClientRouter } from './client-router.ts'
import { type NodeServices, SessionNodes } from './session-nodes.ts'
import { Standing } from './standing.ts'

/** How long a question may take to be answered: longer than a session takes to come to another node. */
const ANSWER_MS = 30_000

export class NodeClients {
  readonly #services: NodeServices
  readonly #standing: Standing

  constructor(services: NodeServices) {
    this.#services = services
    this.#standing = new Standing(services.clock)
  }

  /** Serves a client until it closes its side. */
  async serve(client: Transport, context: ServerContext): Promise<void> {
    const router = new ClientRouter(client, new SessionNodes(context.principal, this.#services))
    const stop = this.#standing.watch((now) => router.stands(now))
    const initialized = (): void => {
      context.initialized?.()
      if (this.#standing.certainty === 'uncertain') router.stands('uncertain')
    }
    try {
      await router.serve((main) => serveConnection(main, { ...context, initialized }))
    } finally {
      stop()
    }
  }

  /** As a client of this node would, wherever the session is. */
  async answer(session: string, answer: OutsideAnswer, context: ServerContext): Promise<CountedAnswer> {
    const [front, back] = linkedPair()
    this.serve(openStreamTransport(back, back), context).catch((error: unknown) => this.#services.report(error))
    const { requestId, optionId } = answer
    const params = { sessionId: session, requestId, optionId }
    return (await requestOver(front, { method: '_parley/answer', params, timeoutMs: ANSWER_MS })) as CountedAnswer
  }

  /** No other node counts this one out for so many milliseconds. */
  renewed(ms: number): void {
    this.#standing.renewed(ms)
  }

  end(): void {
    this.#standing.end()
  }
}
