/** The journal by itself: what every other figure stands on. */
import { measureJournal } from '../../journal.ts'
import { type Measuring, type Row, perSecond } from '../../row.ts'

export async function journal({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const { oneSession, fiftySessions, plainFile } = await measureJournal(quick ? 20_000 : 100_000, directory)
  const row = { goal: '–', floor: `${perSecond(plainFile)} plain file, the same syncs`, ok: true }
  return [
    { what: 'journal alone, batches of 100, one session', measured: perSecond(oneSession), ...row },
    { what: 'journal alone, batches of 100, fifty sessions', measured: perSecond(fiftySessions), ...row },
  ]
}
