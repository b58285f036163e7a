/**
 * Runs once, after a global installation: of SQLite's package it removes the source and the binaries for other systems and other
 * C libraries, 27 of 30 MB.
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
    for (const path of ['src', ...others, ...otherLibraries()])
      rmSync(`${sqlite}${path}`, { recursive: true, force: true })
  }
} catch {
  // It is installed elsewhere, or may not be changed.
}

/** Of Linux: the binary for the C library that this Node does not use. */
function otherLibraries() {
  if (process.platform !== 'linux') return []
  const library = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'
  const binaries = readdirSync(`${sqlite}prebuilds/${ours}`)
  if (!binaries.some((name) => name.includes(`.${library}.`))) return []
  return binaries.filter((name) => !name.includes(`.${library}.`)).map((name) => `prebuilds/${ours}/${name}`)
}
