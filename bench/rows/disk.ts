/** How much disk the journal takes for the text of a conversation, in chunks of several sizes. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parley } from '../peer.ts'
import type { Measuring, Row } from '../row.ts'
import { freshHome, writeScript } from '../scene.ts'

const GOAL = 5

export async function disk({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const size of [4, 20, 100]) rows.push(await ratioFor(size, { directory, chunks: quick ? 5_000 : 40_000 }))
  return rows
}

async function ratioFor(size: number, { directory, chunks }: { directory: string; chunks: number }): Promise<Row> {
  const home = freshHome(directory)
  const peer = parley(home, writeScript(directory, [{ chunk: 'x'.repeat(size), times: chunks }]))
  await peer.initialize()
  await peer.prompt(await peer.newSession(directory))
  await peer.close()
  const ratio = statSync(join(home, 'journal.db')).size / (size * chunks)
  const what = `journal on disk, chunks of ${size} characters`
  return { what, measured: `${ratio.toFixed(1)} × the text`, goal: `≤ ${GOAL} ×`, floor: '–', ok: ratio <= GOAL }
}
