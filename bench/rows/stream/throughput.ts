/** Durable updates a second, one session, one client, over stdio; beside the SDK's echo agent, which stores nothing. */
import { fileURLToPath } from 'node:url'
import { Peer, parley } from '../../peer.ts'
import { type Measuring, type Row, median, perSecond } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'

const echo = fileURLToPath(new URL('../../peers/echo-agent.ts', import.meta.url))
const TEXT = 'and {n} more words '
const GOAL = 30_000

export async function throughput({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const chunks = quick ? 20_000 : 100_000
  const script = writeScript(directory, [{ chunk: TEXT, times: chunks }])
  const ours: number[] = []
  const floor: number[] = []
  for (let repeat = 0; repeat < (quick ? 2 : 5); repeat += 1) {
    floor.push(
      await rate(new Peer(['--import', import.meta.resolve('tsx'), echo, String(chunks), TEXT], {}), directory, chunks),
    )
    ours.push(await rate(parley(freshHome(directory), script), directory, chunks))
  }
  const measured = median(ours)
  return [
    {
      what: 'durable updates, one session, one client',
      measured: perSecond(measured),
      goal: `≥ ${perSecond(GOAL)} and ≥ the echo agent`,
      floor: `${perSecond(median(floor))} SDK's echo agent, not durable`,
      ok: measured >= GOAL && measured >= median(floor),
    },
  ]
}

async function rate(peer: Peer, cwd: string, chunks: number): Promise<number> {
  await peer.initialize()
  const sessionId = await peer.newSession(cwd)
  const { ms, lastUpdate } = await peer.prompt(sessionId)
  await peer.kill()
  // A client that is behind gets several chunks as one update: what counts is the last words.
  const words = TEXT.replace('{n}', String(chunks)).trim()
  if (!lastUpdate.includes(words)) throw new Error(`the turn ended with ${lastUpdate} instead of "${words}"`)
  return (chunks / ms) * 1000
}
