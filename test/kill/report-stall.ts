/** What a stalled client cost the others, as a page to read. */
import type { StallResult } from './stall.ts'

/** Bytes that a client which reads nothing may cost the server. */
export const MOST_MEMORY = 64 * 1024 * 1024
/** How much longer a turn may take beside such a client; the rest is the noise of the machine. */
const MOST_TIME = 1.5

/** Prints it, and gives the exit code. */
export function reportStall(updates: number, result: StallResult): number {
  const { calmMs, stalledMs, before, highest, wasCutOff, faults } = result
  const ratio = stalledMs / calmMs
  for (const fault of faults.slice(0, 5)) console.log(`  out of turn: ${fault}`)
  console.log(
    `a turn of ${updates} updates, read by two: ${seconds(calmMs)}; beside a third that reads nothing: ${seconds(stalledMs)}`,
  )
  console.log(`the server's memory: ${megabytes(before)} before, ${megabytes(highest)} at its highest`)
  console.log(
    wasCutOff ? 'the slow client was cut off and went on from its cursor' : 'the slow client caught up when it read on',
  )
  console.log(`${faults.length} lost, doubled or out of order`)
  return faults.length === 0 && ratio <= MOST_TIME && highest - before <= MOST_MEMORY ? 0 : 1
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`
}
