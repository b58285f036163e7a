/** Files and lines are found for any pattern, with ripgrep or without, and no pattern blocks other searches. */
import { chmodSync, existsSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { until } from '../../../test/fixtures/process/running.ts'
import { openChecker } from '../../../test/fixtures/tools/checker.ts'
import { Stage, openStage } from '../../../test/fixtures/tools/stage.ts'
import type { Clock } from '../../ports/clock.ts'
import { systemClock } from '../clock.ts'
import { pathTest } from './search/glob.ts'
import { literalIn } from './search/candidates.ts'

let stage: Stage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

/** Tells that it was run. */
const PLANTED = '#!/bin/sh\n: > ran\n'

const FILES = {
  'a.ts': 'export const answer = 42\nconst other = 1\n',
  'src/b.ts': 'import { answer } from "../a.ts"\r\nANSWER(answer)\r\n',
  'src/deep/c.md': '# The answer\n\nis 42.\n',
  'src/deep/wide.txt': Buffer.from('\uFEFFan answer, wide\n', 'utf16le'),
  'src/deep/unmarked.txt': Buffer.from('an answer, unmarked\n', 'utf16le'),
  'src/deep/bin': Buffer.from('answer\0answer'),
  'out/d.ts': 'answer\n',
  '.hidden/e.ts': 'answer\n',
  '.git/config': 'answer\n',
  '.gitignore': 'out/\n',
  'src/.ignore': '*.md\n',
}

describe('find_files', () => {
  test('finds by name, at any depth or below a directory, without ignored files', async () => {
    stage = await openStage({ files: FILES })
    const here = stage
    const found = (pattern: string, more = {}) => here.say('find_files', { pattern, ...more })
    const texts = 'src/deep/unmarked.txt\nsrc/deep/wide.txt'
    expect(await found('*.ts')).toBe('.hidden/e.ts\na.ts\nsrc/b.ts')
    expect(await found('src/**')).toBe(`src/.ignore\nsrc/b.ts\nsrc/deep/bin\n${texts}`)
    expect(await found('**/*.{md,txt}', { ignored: true })).toBe(`src/deep/c.md\n${texts}`)
    expect(await found('b.ts', { path: 'src' })).toBe('b.ts')
    expect(await found('nothing')).toContain('No file matches')
    expect(await found('{a,b}'.repeat(12))).toContain('Use a simpler one')
  })

  test.each([
    ['*', 'a/b', true],
    ['a/*', 'a/b/c', false],
    ['a/**', 'a/b/c', true],
    ['**/c', 'c', true],
    ['a/**/c', 'a/c', true],
    ['a/**/c', 'a/x/y/c', true],
    ['./a?', 'ab', true],
    ['[a-c][!x]', 'by', true],
    ['[a-c][!x]', 'bx', false],
    ['*.test.ts', 'x/y.test.ts', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
  ])('%s and %s: %j', (pattern, way, fits) => expect(pathTest(pattern)(way)).toBe(fits))

  test('takes no longer for a hostile pattern', () => {
    expect(pathTest(`${'*a'.repeat(200)}b`)('a'.repeat(4_000))).toBe(false)
    expect(pathTest(`${'**/a/'.repeat(60)}b`)('a/'.repeat(1_000))).toBe(false)
  })
})

describe('search_text', () => {
  test.each(['with', 'without'])('gives the same answers %s ripgrep', async (how) => {
    const PATH = how === 'with' ? process.env.PATH : newDirectory()
    stage = await openStage({ files: FILES, environment: { ...process.env, PATH } })
    const here = stage
    const say = (args: object) => here.say('search_text', args)
    expect((await say({ pattern: 'answer' })).split('\n')).toEqual([
      '.hidden/e.ts:1:answer',
      'a.ts:1:export const answer = 42',
      'src/b.ts:1:import { answer } from "../a.ts"',
      'src/b.ts:2:ANSWER(answer)',
      'src/deep/unmarked.txt:1:an answer, unmarked',
      'src/deep/wide.txt:1:an answer, wide',
    ])
    expect(await say({ pattern: '^ANSWER\\(\\w+\\)$' })).toBe('src/b.ts:2:ANSWER(answer)')
    expect(await say({ pattern: 'ANSWER(', literal: true })).toBe('src/b.ts:2:ANSWER(answer)')
    expect(await say({ pattern: 'OTHER', ignore_case: true, context: 1 })).toBe(
      'a.ts-1-export const answer = 42\na.ts:2:const other = 1',
    )
    expect(await say({ pattern: 'UNMARKED', ignore_case: true })).toBe('src/deep/unmarked.txt:1:an answer, unmarked')
    expect(await say({ pattern: 'answer', glob: '*.md', ignored: true })).toBe('src/deep/c.md:1:# The answer')
    expect(await say({ pattern: 'answer', path: 'out/d.ts' })).toBe('out/d.ts:1:answer')
    expect(await say({ pattern: 'answer', limit: 1 })).toContain('[There may be more than 1 lines')
    expect(await say({ pattern: 'nothing' })).toBe('No line matches nothing.')
    expect(await say({ pattern: 'a(' })).toContain('The pattern is no regular expression')
  })

  test('never runs a ripgrep inside the project, whatever PATH is', async () => {
    stage = await openStage({ files: { 'a.txt': 'needle', 'bin/rg': PLANTED, rg: PLANTED } })
    const planted = [stage.path('rg'), stage.path('bin/rg')]
    for (const path of planted) chmodSync(path, 0o755)
    symlinkSync(stage.path('rg'), join(dirname(stage.dir), 'rg'))
    const above = dirname(stage.dir)
    for (const PATH of [':/nowhere', '.', 'bin:.', `${stage.dir}/bin`, `${stage.dir}/../inside/bin`, above]) {
      const here = new Stage(stage.dir, { environment: { ...process.env, PATH } })
      expect(await here.say('search_text', { pattern: 'needle' })).toBe('a.txt:1:needle')
      await here.release()
    }
    expect(existsSync(stage.path('ran'))).toBe(false)
  })

  test('stops a pattern with nested repetition, and continues with others', async () => {
    const jobMs = 123_456
    const ends: (() => void)[] = []
    const setTimer: Clock['setTimer'] = (ms, run) => {
      if (ms !== jobMs) return systemClock.setTimer(ms, run)
      ends.push(run)
      return { cancel: () => undefined }
    }
    const checker = openChecker({ jobMs }, { ...systemClock, setTimer })
    stage = await openStage({ files: { 'a.txt': `${'a'.repeat(40)}!\nb\n` }, checker })
    const slow = stage.say('search_text', { pattern: '^(a+)+$' })
    expect(await stage.say('search_text', { pattern: 'b' })).toBe('a.txt:2:b')
    let isStopped = false
    const stopped = slow.finally(() => (isStopped = true))
    // Its thread may have started last, and with it its time.
    await until(() => (ends.splice(0).forEach((end) => end()), isStopped))
    expect(await stopped).toContain('The pattern takes too long on a.txt')
    await checker.close()
  })

  test('asks ripgrep only for text that every match contains', () => {
    expect(literalIn('abc\\b.*defg', false)).toBe('defg')
    for (const pattern of ['a|bcd', '(abc)?', 'ab', 'abc*', 'a\\1234', '[abc]', 'ab?c?'])
      expect(literalIn(pattern, false)).toBeUndefined()
    const atom = fc.constantFrom('a', 'b', 'abc', 'bab', '.', '\\w', '\\d', '[ab]', '^', '$', '\\.', ' ')
    const patterns = fc.array(fc.tuple(atom, fc.constantFrom('', '', '*', '?', '+', '{2}', '{0,1}')), { maxLength: 6 })
    fc.assert(
      fc.property(patterns, fc.stringMatching(/^[ab. ]{0,12}$/u), (parts, text) => {
        const pattern = parts.map(([one, times]) => (/^[\^$]$/u.test(one) ? one : `${one}${times}`)).join('')
        const needed = literalIn(pattern, false)
        if (needed !== undefined && new RegExp(pattern, 'u').test(text)) expect(text).toContain(needed)
      }),
      { numRuns: 600 },
    )
  })
})
