/** What the way through another node costs, and what more nodes bring. */
import { median, ms, perSecond, quantile, times } from '../row.ts'
import { NodeStage, sessionAt, turn, words } from './stage.ts'

const TURNS = 200
const STREAMED = 5_000
const SESSIONS = 60
const UPDATES = 500

export async function measureHop(share: number): Promise<readonly string[]> {
  const stage = await NodeStage.of(2)
  try {
    const [short, long] = [await words(1), await words(STREAMED * share)]
    const rows: string[] = []
    const turns = Math.max(10, TURNS * share)
    for (const [what, agent, count] of [
      ['a turn of one word', short, turns],
      [`a turn of ${STREAMED * share} words`, long, Math.max(3, turns / 20)],
    ] as const) {
      const { client, opening } = await sessionAt(stage.node(0), agent)
      const through = await stage.node(1).client()
      await through.request('session/load', opening)
      const [direct, passed]: [number[], number[]] = [[], []]
      for (let done = 0; done < count; done += 1) {
        direct.push(await turn(client, opening.sessionId))
        passed.push(await turn(through, opening.sessionId))
      }
      await Promise.all([client.leave(), through.leave()])
      rows.push(
        `  ${what.padEnd(24)} at its node p50 ${ms(median(direct))}, p99 ${ms(quantile(direct, 0.99))}; through another one p50 ${ms(median(passed))}, p99 ${ms(quantile(passed, 0.99))}: ${times(median(passed) / median(direct))}`,
      )
    }
    return ['\nthe way through another node', ...rows]
  } finally {
    await stage.close()
  }
}

export async function measureNodes(share: number): Promise<readonly string[]> {
  const rows: string[] = []
  for (const count of [1, 3, 5]) {
    const stage = await NodeStage.of(count)
    try {
      const agent = await words(UPDATES)
      const sessions = Math.max(5, SESSIONS * share)
      const open = await Promise.all(
        Array.from({ length: sessions }, (_, index) => sessionAt(stage.node(index), agent)),
      )
      const begun = performance.now()
      await Promise.all(open.map(({ client, opening }) => turn(client, opening.sessionId)))
      const seconds = (performance.now() - begun) / 1_000
      rows.push(`  ${count} nodes: ${perSecond((sessions * UPDATES) / seconds)} updates in ${sessions} sessions`)
      await Promise.all(open.map(({ client }) => client.leave()))
    } finally {
      await stage.close()
    }
  }
  return ['\nnodes on this one machine, which share its cores with the database and the clients', ...rows]
}
