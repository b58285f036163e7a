import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { queriesFor } from './keyword-queries.ts'

test('an English question is reduced to its content words, then relaxed', () => {
  expect(queriesFor('How does a session survive a crash?')).toEqual([
    'session survive crash',
    'survive crash',
    'session crash',
    'session survive',
    'session',
    'survive',
    'crash',
  ])
})

test('a Chinese question loses its question words', () => {
  expect(queriesFor('会话如何在崩溃后恢复？')[0]).toBe('会话 崩溃 恢复')
  expect(queriesFor('怎么配置软RAID阵列？')[0]).toBe('配置 软raid 阵列')
  expect(queriesFor('卷')).toEqual(['卷'])
})

test('identifiers stay whole', () => {
  expect(queriesFor('what is session/load?')).toEqual(['session/load'])
  expect(queriesFor('Where is file.md:12 mentioned?')[0]).toBe('file.md:12 mentioned')
})

test('a question of nothing but stop words is taken literally', () => {
  expect(queriesFor('How?')).toEqual(['how'])
  expect(queriesFor('？！')).toEqual([])
})

test('strings too long for a word are not searched for', () => {
  expect(queriesFor(`${'x'.repeat(100_000)} and crashes ${'卷'.repeat(1000)}`)).toEqual(['crashes'])
})

test('any text gives a short list of queries', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(queriesFor(text).length).toBeLessThan(20)
    }),
  )
})
