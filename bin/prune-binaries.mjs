/**
 * Runs once, after a global installation: of SQLite's package it removes the source and the binaries for other systems, 25 of 30 MB.
 * A package that other programs could use too is left as it is, and so is one of a clone. Never fails an installation.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ours = `${process.platform}-${process.arch}`
const sqlite = fileURLToPath(new URL('../node_modules/@photostructure/sqlite/', import.meta.url))
const isClone = existsSync(new URL('../package-lock.json', import.meta.url))

try {
  // Directly below this package, so that no other program uses it.
  const systems = isClone ? [] : readdirSync(`${sqlite}prebuilds`)
  if (systems.includes(ours)) {
    const others = systems.filter((system) => system !== ours).map((system) => `prebuilds/${system}`)
    for (const path of ['src', ...others]) rmSync(`${sqlite}${path}`, { recursive: true, force: true })
  }
} catch {
  // It is installed elsewhere, or may not be changed.
}
