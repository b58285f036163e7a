/** Any file that a model may ask for: in pages, in every encoding, as the editor has it, and never a hang. */
import { execFileSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { ParleyError } from '../../../errors/parley-error.ts'
import { type Stage, openStage } from '../../../../test/fixtures/tools/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const read = (path: string, more = {}) => stage.say('read_file', { path, ...more })

test('a long file is read in pages that say how to continue', async () => {
  const lines = Array.from({ length: 51_234 }, (_, index) => `line ${index + 1}`)
  stage = await openStage({ files: { 'long.txt': `${lines.join('\n')}\n` } })
  const first = await read('long.txt')
  expect(first.split('\n').slice(-2)).toEqual(['line 2000', '[Lines 1–2,000 of 51,234; read on with line=2001]'])
  const last = await read('long.txt', { line: 51_234 })
  expect(last).toBe('line 51234\n[Lines 51,234–51,234 of 51,234]')
  expect(await read('long.txt', { line: 60_000 })).toContain('there is no line 60,000')
})

test('a line that is too long for a page is read in pieces of whole characters, then the lines after it', async () => {
  const wide = `${'x'.repeat(49_999)}世${'y'.repeat(9_999)}😀${'z'.repeat(40_001)}`
  stage = await openStage({ files: { 'wide.txt': `${wide}\nend\n` } })
  let [text, at] = ['', '']
  let next: Record<string, number> | undefined = {}
  while (next !== undefined && text.length < 200_000) {
    const said: string = await read('wide.txt', next)
    const place = said.lastIndexOf('\n[')
    text += said.slice(0, place)
    at = said.slice(place + 1)
    const [, line, column] = /read on with line=(\d+), column=(\d+)/u.exec(at) ?? []
    next = line === undefined ? undefined : { line: Number(line), column: Number(column) }
  }
  expect(text).toBe(`${wide}\nend`)
  expect(at).toBe('[Lines 1–2 of 2]')
  const beyond = await read('wide.txt', { column: 200_000 })
  expect(beyond).toBe('[Line 1 has 100,002 characters; there is no column 200,000.]')
  const half = await read('wide.txt', { column: 60_001, limit: 1 })
  expect(half.slice(0, 3)).toBe('😀z')
})

const GREETING = '\uFEFFGrüße, 世界\n'
test.each([
  ['UTF-8', Buffer.from(GREETING.slice(1))],
  ['UTF-8 with its mark', Buffer.from(GREETING)],
  ['UTF-16', Buffer.from(GREETING, 'utf16le')],
  ['UTF-16, the other way round', Buffer.from(GREETING, 'utf16le').swap16()],
  ['UTF-16 without a mark', Buffer.from(GREETING.slice(1), 'utf16le')],
  ['UTF-16 without a mark, the other way round', Buffer.from(GREETING.slice(1), 'utf16le').swap16()],
])('a file in %s is read', async (_name, bytes) => {
  stage = await openStage({ files: { 'a.txt': bytes } })
  expect(await read('a.txt')).toBe('Grüße, 世界')
})

test('Latin-1 is read; an empty file and a binary file are reported as such', async () => {
  const files = {
    'latin.txt': Buffer.from('Grüße\n', 'latin1'),
    'empty.txt': '',
    'a.pdf': Buffer.from('%PDF-1.7\n\u0000'),
    'half.txt': Buffer.from([0xff, 0xfe, 0x61]),
    'wider.txt': Buffer.from('\uFEFF\0a\0b\0', 'utf16le'),
    'marked.txt': Buffer.concat([Buffer.from('\uFEFF'), Buffer.from('ä', 'latin1')]),
    'numbers.bin': Buffer.from(Uint16Array.from([1, 2, 3, 500, 4]).buffer),
    'odd.bin': Buffer.from([1, 2, 3, 0, 4]),
    'a.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]),
  }
  stage = await openStage({ files })
  expect(await read('latin.txt')).toBe('Grüße')
  expect(await read('empty.txt')).toBe('[The file is empty.]')
  expect(await read('a.pdf')).toContain('a.pdf is a PDF document of 10 bytes')
  expect(await read('odd.bin')).toContain('odd.bin is a binary file of 5 bytes')
  for (const path of ['half.txt', 'wider.txt', 'marked.txt', 'numbers.bin'])
    expect(await read(path)).toMatch(/^Error: \S+ is a binary file of \d+ bytes, which read_file/u)
  const { content } = await stage.call('read_file', { path: 'a.png' })
  expect(content).toEqual([{ type: 'image', data: files['a.png'].toString('base64'), mimeType: 'image/png' }])
})

test('a path that is not a regular file is refused at once', async () => {
  stage = await openStage({ files: { 'd/a': '' } })
  execFileSync('mkfifo', [stage.path('pipe')])
  await symlink('loop', stage.path('loop'))
  expect(await read('pipe')).toBe('Error: pipe is a named pipe, not a file, and was left alone.')
  expect(await read('d')).toBe('Error: d is a directory. Use list_directory.')
  expect(await read('d/a/b')).toContain('a is not a directory')
  expect(await read('loop')).toContain('too many links')
  expect(await read('no/such')).toBe('Error: There is no file "no/such".')
  expect(await read('x'.repeat(300))).toContain('is too long')
})

test('unsaved changes of the editor are read', async () => {
  const asked: string[] = []
  stage = await openStage({ files: { 'a.txt': 'saved' } })
  stage.client = {
    ...stage.client,
    readTextFile: async ({ path }) => {
      asked.push(path)
      if (path.endsWith('a.txt') || path.endsWith('new.txt')) return 'unsaved'
      throw new ParleyError('CLIENT_REFUSED', { method: 'fs/read_text_file', reason: 'no such buffer' })
    },
  }
  expect(await read('a.txt')).toBe('unsaved')
  expect(await read('deep/new.txt')).toBe('unsaved')
  expect(await read('no.txt')).toBe('Error: There is no file "no.txt".')
  expect(await read('../a.txt')).toContain('outside the directories of this session')
  expect(asked).toEqual([stage.path('a.txt'), stage.path('deep/new.txt'), stage.path('no.txt')])
})
