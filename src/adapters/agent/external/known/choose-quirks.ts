/** Which quirks hold for an agent: the row that fits its name and version best, or the safe one. */
import { type Quirks, SAFE } from '../quirks.ts'
import { type QuirkRow, quirkRows } from './quirk-rows.ts'
import { compareVersions } from './version.ts'

export interface ChosenQuirks {
  readonly quirks: Quirks
  /** Absent where the safe row holds. */
  readonly row?: QuirkRow
  /** False for a version later than any that was tried, for a row that only repeats reports, and for an agent without a row. */
  readonly isVerified: boolean
}

/**
 * `names`: its `agentInfo.name`, then its id; the first that has rows counts. An unknown version counts as the newest, because
 * that is what people have installed.
 */
export function chooseQuirks(names: readonly string[], version = '', rows = quirkRows): ChosenQuirks {
  const name = names.find((one) => rows.some((row) => row.agent === one))
  const ofAgent = rows.filter((row) => row.agent === name).toSorted((a, b) => compareVersions(last(a), last(b)))
  const isKnown = /^v?\d/u.test(version)
  const fitting = isKnown ? ofAgent.filter((row) => isWithin(version, row)).toSorted(bySpan) : []
  const row = fitting[0] ?? (isKnown ? latestBelow(version, ofAgent) : ofAgent.at(-1))
  if (row === undefined) return { quirks: SAFE, isVerified: false }
  return { quirks: { ...SAFE, ...row.fields }, row, isVerified: fitting.length > 0 && row.proof === 'measured' }
}

function isWithin(version: string, { from, to }: QuirkRow): boolean {
  const isLate = from === undefined || compareVersions(version, from) >= 0
  return isLate && to !== undefined && compareVersions(version, to) <= 0
}

/** The most specific first: the one that begins last, then the one that ends first. */
function bySpan(a: QuirkRow, b: QuirkRow): number {
  return compareVersions(b.from ?? '', a.from ?? '') || compareVersions(last(a), last(b))
}

/** Beyond the last version that was tried, and in a gap between two rows: what held before, never a later row. */
function latestBelow(version: string, sorted: readonly QuirkRow[]): QuirkRow | undefined {
  return sorted.findLast((row) => compareVersions(last(row), version) < 0)
}

/** A row without a last version holds below all others. */
function last({ to }: QuirkRow): string {
  return to ?? '0.0.0'
}
