import { expect, test } from 'vitest'
import { Secrets } from './mask-secrets.ts'

const secrets = new Secrets({
  API_KEY: 'sentinel"key\\1',
  AUTH_HEADER: 'Bearer sentinel-token',
  HOME: 'no-secret-at-all',
})

test.each([
  ['in a text', { a: ['it is sentinel-token.'] }, { a: ['it is [secret].'] }],
  ['in a key', { 'sentinel-token': 1 }, { '[secret]': 1 }],
  ['with characters that JSON writes otherwise', { a: { b: 'sentinel"key\\1' } }, { a: { b: '[secret]' } }],
  ['with its scheme', ['Bearer sentinel-token'], ['[secret]']],
])('a secret is masked in an update: %s', (_where, update, masked) => {
  expect(secrets.maskJson(update)).toEqual(masked)
})

test('an update without a secret is passed on as it is, however deep it is', () => {
  const deep = JSON.parse(`${'['.repeat(50_000)}"no-secret-at-all"${']'.repeat(50_000)}`) as unknown
  expect(secrets.maskJson(deep)).toBe(deep)
})
