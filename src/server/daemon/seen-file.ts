/** What each person has read, as a file of the state: `seen.json`. Without it everything counts as read from then on. */
import { join } from 'node:path'
import { type StoredMarks, SeenMarks } from '../../edge/seen-marks.ts'
import type { Clock } from '../../ports/clock.ts'
import { replaceFile } from '../../state-files/atomic-file.ts'
import { readTextSync } from '../../state-files/bounded-read.ts'

const MAX_BYTES = 16 * 1024 * 1024

interface SeenMarksDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly report: (error: unknown) => void
}

/** A file that cannot be read is reported and begun anew: it holds nothing but marks. */
export function openSeenMarks(home: string, { clock, report }: SeenMarksDeps): SeenMarks {
  const path = join(home, 'seen.json')
  const now = () => clock.now()
  const save = async (marks: StoredMarks) => replaceFile(path, JSON.stringify(marks))
  try {
    return new SeenMarks(marksIn(readTextSync(path, MAX_BYTES)), { now, save })
  } catch (error) {
    report(error)
    return new SeenMarks({}, { now, save })
  }
}

function marksIn(text: string | undefined): StoredMarks {
  const stored: unknown = JSON.parse(text ?? '{}')
  const isMarks =
    typeof stored === 'object' &&
    stored !== null &&
    Object.values(stored).every(
      (one: Partial<StoredMarks[string]> | null) =>
        typeof one?.since === 'number' &&
        typeof one.seen === 'object' &&
        Object.values(one.seen).every(Number.isInteger),
    )
  if (!isMarks) throw new Error('seen.json does not hold marks of what was read; it is begun anew.')
  return stored as StoredMarks
}
