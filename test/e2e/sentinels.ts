/** Words that nobody could guess, one for each place that takes a secret, and where to look for them. */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const sentinels = new Map<string, string>()

export function newSentinels(): void {
  sentinels.clear()
}

/** One for each place, so that a failure says where the leak begins. */
export function secret(place: string): string {
  const word = `s3cr3t${place}${'x'.repeat(8)}${sentinels.size}`
  sentinels.set(place, word)
  return word
}

export function leaksIn(text: string): readonly string[] {
  return [...sentinels].filter(([, word]) => text.includes(word) || text.includes(btoa(word))).map(([place]) => place)
}

/** Everything on disk, in the state directory and below. */
export function filesBelow(directory: string): readonly (readonly [string, string])[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => [path, readOrNothing(path, 'latin1')] as const)
}

export function commandLines(): string {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name))
  return pids.map((pid) => readOrNothing(`/proc/${pid}/cmdline`)).join('\n')
}

function readOrNothing(path: string, encoding: BufferEncoding = 'utf8'): string {
  try {
    return readFileSync(path, encoding)
  } catch {
    // The process has just ended, or a server that runs has removed the file.
    return ''
  }
}
