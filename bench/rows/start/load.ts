/** `session/load` of 10,000 entries: how soon the first update comes, and how fast all of them. */
import { type Peer, parley } from '../../peer.ts'
import { type Measuring, type Row, median, ms, perSecond } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'

const ENTRIES = 10_000
const FIRST = 30
const RATE = 60_000

/** Every tenth entry is one that cannot be merged with its neighbours. */
const STEPS = Array.from({ length: ENTRIES / 10 }, () => [
  { chunk: 'and {n} more words ', times: 9 },
  { toolCall: { title: 'Looks', kind: 'search', status: 'completed' } },
]).flat()

export async function load({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const home = freshHome(directory)
  const script = writeScript(directory, STEPS)
  const ids = await tell(parley(home, script), directory, quick ? 3 : 15)
  const peer = parley(home, script)
  await peer.initialize()
  await peer.request('session/list', {})
  const first: number[] = []
  const all: number[] = []
  // Each session is loaded cold, once.
  for (const sessionId of ids) {
    const answer = await peer.request('session/load', { sessionId, cwd: directory, mcpServers: [] })
    first.push(answer.firstUpdateMs)
    all.push((ENTRIES / answer.ms) * 1000)
  }
  await peer.kill()
  const [soon, rate] = [median(first), median(all)]
  return [
    {
      what: 'session/load of 10,000 entries: first update',
      measured: ms(soon),
      goal: `≤ ${FIRST} ms`,
      floor: '–',
      ok: soon <= FIRST,
    },
    {
      what: 'session/load of 10,000 entries: all',
      measured: perSecond(rate),
      goal: `≥ ${perSecond(RATE)}`,
      floor: '–',
      ok: rate >= RATE,
    },
  ]
}

/** Sessions as a server leaves them. */
async function tell(peer: Peer, cwd: string, sessions: number): Promise<readonly string[]> {
  await peer.initialize()
  const ids: string[] = []
  for (let made = 0; made < sessions; made += 1) {
    const sessionId = await peer.newSession(cwd)
    await peer.prompt(sessionId)
    ids.push(sessionId)
  }
  await peer.close()
  return ids
}
