import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { hashOf } from '../../credentials/secret.ts'
import { DocsKeys, loadKey, withoutKeys } from './keys.ts'

const STRONG = '0123456789abcdef'

/** Where there is none, or one with this text. */
async function keyFile(text?: string): Promise<string> {
  const file = join(newDirectory(), text === undefined ? 'deep/docs-key' : 'key')
  if (text !== undefined) await writeFile(file, text, { mode: 0o600 })
  return file
}

test('without a key one is created, stored for its owner only, and used again', async () => {
  const file = await keyFile()
  const made = await loadKey({ file, loopback: false })
  expect(made).toMatchObject({ source: 'new file', path: file, warnings: [] })
  expect(made.key).toMatch(/^[\w-]{32}$/)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toBe(`${made.key}\n`)
  expect(await loadKey({ file, loopback: false })).toMatchObject({ key: made.key, source: 'file' })
})

test('the environment comes before the file', async () => {
  const file = await keyFile('a-key-in-a-file-that-is-long')
  const fromEnvironment = { key: STRONG, source: 'PARLEY_DOCS_KEY' }
  expect(await loadKey({ env: STRONG, file, loopback: false })).toMatchObject(fromEnvironment)
  expect(await loadKey({ env: '', file, loopback: false })).toMatchObject({ key: 'a-key-in-a-file-that-is-long' })
})

test.each(['demo-mcp-api-key', 'short'])(
  'the weak key %s has a warning on loopback and is refused elsewhere',
  async (key) => {
    const file = await keyFile(key)
    for (const request of [{ env: key, file }, { file }]) {
      const { warnings } = await loadKey({ ...request, loopback: true })
      expect(warnings).toEqual([expect.stringMatching(/16 random characters/)])
      expect(warnings.join(' ')).not.toContain(key)
      await expect(loadKey({ ...request, loopback: false })).rejects.toMatchObject({ code: 'DOCS_KEY_WEAK' })
    }
  },
)

test('a key file that other users can read has a warning, one without a key is refused', async () => {
  const open = await keyFile(STRONG)
  await chmod(open, 0o644)
  expect((await loadKey({ file: open, loopback: true })).warnings).toEqual([expect.stringMatching(/chmod it to 600/)])
  for (const text of ['', '\n', 'two words']) {
    const file = await keyFile(text)
    await expect(loadKey({ file, loopback: true })).rejects.toMatchObject({ code: 'DOCS_KEY_FILE' })
  }
})

test('a key is mapped to its name and its collections', () => {
  const ring = new DocsKeys([STRONG, 'another'])
  const names = () => [STRONG, 'another', 'third', '', `${STRONG} `].map((key) => ring.principalOf(key)?.name)
  expect(names()).toEqual(['main', 'main-2', undefined, undefined, undefined])
  ring.setNamed([{ name: 'ci', sha256: hashOf('third'), collections: ['notes'] }])
  expect(names()[2]).toBe('ci')
  const ci = ring.principalOf('third')
  expect(ci).toMatchObject({ collections: ['notes'] })
  ring.setNamed([{ name: 'ci', sha256: hashOf('third'), collections: 'all' }])
  expect(ci === null || ring.knows(ci)).toBe(false)
  expect(() => new DocsKeys([])).toThrow(/at least one key/)
  expect(() => new DocsKeys([''])).toThrow(/at least one key/)
})

test('no key is logged', () => {
  const lines: string[] = []
  const log = withoutKeys([STRONG], (line) => lines.push(line))
  log(`GET /mcp?api_key=other&x=1 with ${STRONG} and ${STRONG}`)
  expect(lines).toEqual(['GET /mcp?api_key=***&x=1 with *** and ***'])
})

test('file names in the log contain no control characters and no line breaks', () => {
  const lines: string[] = []
  withoutKeys([STRONG], (line) => lines.push(line))('a\u001b]0;b\u0007\n\u009b2J\u2028\u202e软.md is not searched.')
  expect(lines).toEqual(['a\ufffd]0;b\ufffd\ufffd\ufffd2J\ufffd\ufffd软.md is not searched.'])
})
