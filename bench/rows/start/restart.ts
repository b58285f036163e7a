/** From spawn to the first client served with what it asked for, on a journal of a million entries. */
import { openSqliteJournal } from '../../../src/adapters/journal/sqlite/sqlite-journal.ts'
import { fill, workerUrl } from '../../journal-rows.ts'
import { parley } from '../../peer.ts'
import { type Measuring, type Row, median, ms } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'

const GOAL = 500

export async function restart({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const entries = quick ? 100_000 : 1_000_000
  const home = freshHome(directory)
  const journal = await openSqliteJournal({ directory: home, workerUrl })
  await fill(journal, { sessions: 100, entriesEach: entries / 100 })
  await journal.close()
  const script = writeScript(directory, [{ chunk: 'hello {n} ', times: 3_000 }])
  const sessionId = await told(parley(home, script))
  const took: number[] = []
  for (let repeat = 0; repeat < (quick ? 3 : 9); repeat += 1)
    took.push(await served(() => parley(home, script), sessionId))
  const measured = median(took)
  const what = `restart with ${entries.toLocaleString('en')} entries → first client served`
  return [{ what, measured: ms(measured), goal: `≤ ${GOAL} ms`, floor: '–', ok: measured <= GOAL }]
}

/** Spawned, and the first update of a loaded session received; then killed in mid-turn, so that the next one has to recover. */
async function served(open: () => ReturnType<typeof parley>, sessionId: string): Promise<number> {
  const began = performance.now()
  const peer = open()
  await peer.initialize()
  const asked = performance.now()
  const { firstUpdateMs } = await peer.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
  peer.prompt(sessionId).catch(() => undefined)
  await peer.kill()
  return asked - began + firstUpdateMs
}

/** A session as a server leaves it, among the others. */
async function told(peer: ReturnType<typeof parley>): Promise<string> {
  await peer.initialize()
  const sessionId = await peer.newSession('/')
  await peer.prompt(sessionId)
  await peer.close()
  return sessionId
}
