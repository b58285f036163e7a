/** State directories and scripts for measurements. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

let made = 0

/** An empty directory of its own. */
export function freshHome(directory: string): string {
  made += 1
  const home = join(directory, `home-${made}`)
  mkdirSync(home)
  return home
}

export function writeScript(directory: string, steps: readonly object[]): string {
  made += 1
  const path = join(directory, `script-${made}.jsonl`)
  writeFileSync(path, steps.map((step) => `${JSON.stringify(step)}\n`).join(''))
  return path
}
