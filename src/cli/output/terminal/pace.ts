/**
 * Time for the command line: frames, pauses, and how long ago something was; and ids. No other file of the cli reads the
 * clock.
 */
import { randomUUID } from 'node:crypto'

export function now(): number {
  return Date.now()
}

/** Runs once after `ms`; returns how to stop that. Never keeps the process alive by itself. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A time as users say it; a date once it is a week ago. */
export function ago(at: Date): string {
  const passed = now() - at.getTime()
  if (Number.isNaN(passed)) return ''
  if (passed < MINUTE) return 'just now'
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min ago`
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h ago`
  if (passed < 7 * DAY) return `${Math.floor(passed / DAY)} d ago`
  const [year, month, day] = [at.getFullYear(), at.getMonth() + 1, at.getDate()]
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

/** Resolves after `ms`; the process stays for it. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Differs from every other id there is. */
export function newUuid(): string {
  return randomUUID()
}
