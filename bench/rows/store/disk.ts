/** How much disk the journal takes for the text of a conversation, in chunks of several sizes. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { chanceOf } from '../../../test/series/chance.ts'
import { parley } from '../../peer.ts'
import type { Measuring, Row } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'

const GOAL = 5
const SHORT_TURNS = 200
const SHORT_TURNS_GOAL_BYTES = 1024 * 1024
/** Longer than the journal waits before it empties its WAL. Milliseconds. */
const IDLE_MS = 15_000

export async function disk({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const size of [4, 20, 100]) rows.push(await ratioFor(size, { directory, chunks: quick ? 5_000 : 40_000 }))
  rows.push(await afterShortTurns(directory))
  return rows
}

/** What stays on the disk of a server that has had many short turns, once it is left alone. */
async function afterShortTurns(directory: string): Promise<Row> {
  const home = freshHome(directory)
  const peer = parley(home, writeScript(directory, [{ chunk: 'hello' }]))
  await peer.initialize()
  const session = await peer.newSession(directory)
  for (let turn = 0; turn < SHORT_TURNS; turn += 1) await peer.prompt(session)
  const busy = sizeOf(home, '')
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const idle = sizeOf(home, '')
  await peer.close()
  return {
    what: `disk after ${SHORT_TURNS} short turns, idle for ${IDLE_MS / 1000} s`,
    measured: kibibytes(idle),
    goal: `≤ ${kibibytes(SHORT_TURNS_GOAL_BYTES)}`,
    floor: `${kibibytes(busy)} before it was idle`,
    ok: idle <= SHORT_TURNS_GOAL_BYTES,
  }
}

function kibibytes(bytes: number): string {
  return `${Math.round(bytes / 1024)} KiB`
}

async function ratioFor(size: number, { directory, chunks }: { directory: string; chunks: number }): Promise<Row> {
  const home = freshHome(directory)
  const text = prose(size * chunks)
  const steps = Array.from({ length: chunks }, (_, index) => ({ chunk: text.slice(index * size, (index + 1) * size) }))
  const peer = parley(home, writeScript(directory, steps))
  await peer.initialize()
  await peer.prompt(await peer.newSession(directory))
  await peer.close()
  const ratio = sizeOf(home) / (size * chunks)
  const what = `journal on disk, chunks of ${size} characters`
  return { what, measured: `${ratio.toFixed(1)} × the text`, goal: `≤ ${GOAL} ×`, floor: '–', ok: ratio <= GOAL }
}

/** The journal and whatever stands beside it; with an empty `name`, all files of the state directory. */
function sizeOf(home: string, name = 'journal.db'): number {
  const files = readdirSync(home).filter((file) => file.startsWith(name))
  return files.reduce((total, file) => total + statSync(join(home, file)).size, 0)
}

const WORDS = 4_000

/** As much text, no easier to compress than what people and models write: many words, the first ones far more often. */
function prose(length: number): string {
  const chance = chanceOf(1)
  const letter = (): string => String.fromCharCode(97 + chance.between(0, 25))
  const words = Array.from({ length: WORDS }, () => Array.from({ length: chance.between(2, 10) }, letter).join(''))
  let text = ''
  while (text.length < length) {
    const most = chance.between(0, chance.between(1, WORDS - 1))
    text += `${words[chance.between(0, most)]} `
  }
  return text
}
