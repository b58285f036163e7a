/** The texts that the queries were judged on: the documentation inside two packages of npm, at versions that never change. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Only read, never imported, so they are in no package.json. Both are MIT. */
const PACKAGES = [
  { name: 'fastify', version: '5.12.8', folder: 'docs' },
  { name: 'linux-command', version: '1.22.0', folder: 'command' },
] as const
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/parley-judged-texts')

/** A directory with one folder for each package; the first call needs the registry. */
export function fetchTexts(): string {
  const directory = join(CACHE, PACKAGES.map(({ version }) => version).join('-'))
  if (existsSync(directory)) return directory
  mkdirSync(CACHE, { recursive: true })
  const draft = mkdtempSync(join(CACHE, 'draft-'))
  for (const { name, version, folder } of PACKAGES) {
    const words = ['pack', '--silent', '--pack-destination', draft, `${name}@${version}`]
    const archive = execFileSync('npm', words, { encoding: 'utf8' }).trim()
    const inside = join(draft, 'unpacked')
    mkdirSync(inside)
    execFileSync('tar', ['-xzf', join(draft, archive), '-C', inside])
    renameSync(join(inside, 'package', folder), join(draft, name))
    rmSync(inside, { recursive: true })
    rmSync(join(draft, archive))
  }
  renameSync(draft, directory)
  return directory
}
