/** Every mechanism that can be taken out on purpose is still where its table says, and so is the test that misses it. */
import { describe, expect, test } from 'vitest'
import { agentMutants } from '../agents/mutants.ts'
import { mutants } from '../kill/mutants.ts'
import { type Mutant, misfit } from './mutant.ts'
import { type Patch, patched } from './syntax-patch.ts'

const MUTANT = 'test/mutants/mutant.ts'
const root = new URL('../..', import.meta.url).pathname

test('mutants: every mechanism can be taken out, and the test that misses it is there', () => {
  expect(
    [...mutants, ...agentMutants].map((mutant) => misfit(root, mutant)).filter((why) => why !== undefined),
  ).toEqual([])
})

test('mutants: one whose test is gone is an error', () => {
  const gone: Mutant = {
    mechanism: 'x',
    file: MUTANT,
    inside: 'misfit',
    find: 'return $all',
    put: '',
    test: [MUTANT, 'nobody wrote this'],
  }
  expect(misfit(root, gone)).toContain('2 times')
  expect(misfit(root, { ...gone, find: 'const $a = patched(...$b)' })).toContain('has no longer a test')
})

describe('mutants: a patch of the syntax', () => {
  const source = `
class Log {
  async #store(rows: Row[]) {
    // Why this is so.
    if (
      rows.length !== this.expected
    ) throw new Error("it's gone")
    await this.journal.append(rows, { sync: true })
  }
}
const SQL = \`BEGIN EXCLUSIVE; \${'x'}\`
const twice = [done(1), done(2)]
`
  const tried = (patch: Patch): string => {
    const result = patched(source, patch)
    return 'why' in result ? result.why : result.text
  }

  test.each<[what: string, patch: Patch, changed: { readonly gone: string; readonly come: string }]>([
    [
      'however it is formatted',
      { inside: 'Log.#store', find: 'if ($a !== $b) $refuse', put: '' },
      { gone: 'throw', come: 'Why' },
    ],
    [
      'with what variables stand for',
      { inside: '#store', find: '$a !== $b', put: '$b > $a' },
      { gone: '!==', come: 'this.expected > rows.length' },
    ],
    [
      'with the rest of a list',
      { inside: '#store', find: 'await this.journal.append(...$all)', put: 'await 0' },
      { gone: 'append', come: 'await 0' },
    ],
    [
      'in a string',
      { inside: 'SQL', findText: 'BEGIN EXCLUSIVE', put: 'BEGIN' },
      { gone: 'EXCLUSIVE', come: 'BEGIN;' },
    ],
  ])('fits %s', (_what, patch, { gone, come }) => {
    expect(tried(patch)).not.toContain(gone)
    expect(tried(patch)).toContain(come)
  })

  test.each<[what: string, patch: Patch, why: string]>([
    ['whose declaration is gone', { inside: 'Log.save', find: '$a', put: '' }, 'has no declaration'],
    ['that fits nothing', { inside: 'SQL', find: 'done($x)', put: '' }, 'no longer has'],
    ['that fits twice', { inside: 'twice', find: 'done($x)', put: '$x' }, '2 times'],
    ['whose variable stands for two things', { inside: '#store', find: '$a !== $a', put: '' }, 'no longer has'],
  ])('is an error %s', (_what, patch, why) => expect(tried(patch)).toContain(why))
})
