/** How long a session of a node that was killed is away for a client of another node. */
import type { RawSocket } from '../../test/e2e/raw-socket.ts'
import { median, ms, quantile } from '../row.ts'
import { NodeStage, type Opening, sessionAt, turn, words } from './stage.ts'

export async function measureTakeover(kills: number): Promise<readonly string[]> {
  const stage = await NodeStage.of(2)
  const waits: number[] = []
  try {
    const agent = await words(1)
    for (let kill = 0; kill < kills; kill += 1) {
      const [owner, other] = [stage.node(kill), stage.node(kill + 1)]
      const { client, opening } = await sessionAt(owner, agent)
      await turn(client, opening.sessionId)
      const watcher = await other.client()
      await watcher.request('session/load', opening)
      const begun = performance.now()
      await owner.kill()
      await answered(watcher, opening)
      waits.push(performance.now() - begun)
      await watcher.leave()
      await owner.start()
    }
  } finally {
    await stage.close()
  }
  return [
    '\ntakeover: from kill -9 of its node to the end of the next turn, at a client of another node',
    `  ${kills} kills: p50 ${ms(median(waits))}, p90 ${ms(quantile(waits, 0.9))}, at most ${ms(Math.max(...waits))}`,
  ]
}

/** The prompt waits until another node has the session; one that was on its way to the dead node is sent again. */
async function answered(client: RawSocket, { sessionId }: Opening): Promise<void> {
  const prompt = [{ type: 'text', text: 'Go' }]
  for (;;) {
    const { error } = await client.request('session/prompt', { sessionId, prompt })
    if (error === undefined) return
    if (error.data?.['code'] !== 'TURN_INTERRUPTED') throw new Error(error.message)
  }
}
