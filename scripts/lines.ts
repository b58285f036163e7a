/** `npm run lines`: the lines of the source, and of what proves it, by kind. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The first that a path fits. */
const KINDS: readonly (readonly [kind: string, paths: RegExp])[] = [
  ['tests beside the source', /^src\/.*\.test\.tsx?$/u],
  ['source', /^(?:src|bin)\//u],
  ['tests in test/', /^test\/.*\.test\.ts$/u],
  ['what tests are made with', /^test\/.*\.(?:[cm]?[jt]s|sh)$/u],
  ['data of tests', /^test\//u],
]

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n')
const lines = new Map<string, number>()
for (const file of files) {
  const kind = KINDS.find(([, paths]) => paths.test(file))?.[0]
  if (kind === undefined) continue
  const count = readFileSync(file, 'latin1').split('\n').length - 1
  lines.set(kind, (lines.get(kind) ?? 0) + count)
}
const of = (kind: string): number => lines.get(kind) ?? 0
const proof = ['tests beside the source', 'tests in test/', 'what tests are made with'].reduce(
  (sum, kind) => sum + of(kind),
  0,
)
for (const [kind] of KINDS) console.log(`${kind.padEnd(26)}${String(of(kind)).padStart(8)}`)
console.log(`proof for a line of source  ${(proof / of('source')).toFixed(2)}`)
