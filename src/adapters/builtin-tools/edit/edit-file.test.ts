/**
 * Edits are exact and all or none. They never overwrite a change that another program made, and leave all other bytes as
 * they were.
 */
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { type Stage, openStage } from '../../../../test/fixtures/tools/stage.ts'
import { applyEdits, explainMismatch } from './apply.ts'

let stage: Stage
afterEach(() => stage?.close())

const edit = (old_text: string, new_text: string, replace_all?: boolean) => ({ old_text, new_text, replace_all })

/** What stands in a file after it was read and edited. */
async function changed(path: string, edits: readonly ReturnType<typeof edit>[]): Promise<Buffer> {
  await stage.say('read_file', { path })
  expect(await stage.say('edit_file', { path, edits })).toMatch(/^Edited /u)
  return readFile(stage.path(path))
}

describe('an edit', () => {
  const said = (path: string, ...edits: readonly ReturnType<typeof edit>[]) => stage.say('edit_file', { path, edits })

  test('needs a file that was read and has not changed since', async () => {
    stage = await openStage({ files: { 'a.txt': 'one\n' } })
    const one = edit('one', 'two')
    expect(await said('a.txt', one)).toBe('Error: Read a.txt with read_file first. Nothing was changed.')
    await stage.say('read_file', { path: 'a.txt' })
    await writeFile(stage.path('a.txt'), 'one, changed\n')
    expect(await said('a.txt', one)).toContain('a.txt has changed since you read it')
    await stage.say('read_file', { path: 'a.txt' })
    expect(await said('a.txt', one)).toBe('Edited a.txt in one place.')
    expect(await said('a.txt', edit('two', 'three'))).toContain('one place')
    expect(await readFile(stage.path('a.txt'), 'utf8')).toBe('three, changed\n')
    expect(await readdir(stage.dir)).toEqual(['a.txt'])
  })

  test('is shown as a diff, before and after', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index + 1}`)
    stage = await openStage({ files: { 'a.txt': lines.join('\n') } })
    await stage.say('read_file', { path: 'a.txt' })
    const args = { path: 'a.txt', edits: [edit('10\n', 'ten\n')] }
    const path = stage.path('a.txt')
    const diff = { type: 'diff', path, oldText: '7\n8\n9\n10\n11\n12\n13', newText: '7\n8\n9\nten\n11\n12\n13' }
    expect(await stage.preview('edit_file', args)).toEqual({
      title: 'Edit a.txt',
      kind: 'edit',
      paths: [path],
      locations: [{ path, line: 10 }],
      content: [diff],
    })
    expect(await readFile(path, 'utf8')).toContain('10')
    expect(await stage.call('edit_file', args)).toMatchObject({ isError: false, displayContent: [diff] })
  })

  test('keeps encoding, byte order mark, line ends and permissions of the file', async () => {
    const latin = Buffer.from('ä\nb\n', 'latin1')
    const wide = Buffer.from('\uFEFFa\r\nb\r\n', 'utf16le')
    const files = { 'crlf.txt': '\uFEFFa\r\nb\r\nc\r\n', 'wide.txt': wide, 'latin.txt': latin, 'run.sh': 'b\n' }
    stage = await openStage({ files })
    await chmod(stage.path('run.sh'), 0o755)
    const afterwards = async (path: string) => changed(path, [edit('b\n', 'B\nB\n')])
    expect((await afterwards('crlf.txt')).toString()).toBe('\uFEFFa\r\nB\r\nB\r\nc\r\n')
    expect(await afterwards('wide.txt')).toEqual(Buffer.from('\uFEFFa\r\nB\r\nB\r\n', 'utf16le'))
    expect((await afterwards('latin.txt')).toString('latin1')).toBe('ä\nB\nB\n')
    expect((await afterwards('run.sh')).toString()).toBe('B\nB\n')
    expect((await stat(stage.path('run.sh'))).mode & 0o777).toBe(0o755)
    expect(await said('latin.txt', edit('ä', '世'))).toContain('Latin-1')
  })

  test('keeps UTF-16 without a byte order mark, and the line ends around it where they are mixed', async () => {
    const files = { 'wide.txt': Buffer.from('aä\r\nb\r\n', 'utf16le'), 'mixed.txt': 'a\r\nb\r\nc\nd\r\ne' }
    stage = await openStage({ files })
    const wide = await changed('wide.txt', [edit('b', 'B\nC')])
    expect(wide).toEqual(Buffer.from('aä\r\nB\r\nC\r\n', 'utf16le'))
    const mixed = await changed('mixed.txt', [edit('b', 'b\nB'), edit('c', 'c\nC'), edit('e', 'e\nE')])
    expect(mixed.toString()).toBe('a\r\nb\r\nB\r\nc\nC\nd\r\ne\r\nE')
  })

  test('of the last line may leave or add its newline', async () => {
    stage = await openStage({ files: { 'a.txt': 'one\ntwo', 'crlf.txt': 'one\r\ntwo' } })
    expect((await changed('a.txt', [edit('two', '2')])).toString()).toBe('one\n2')
    expect((await changed('a.txt', [edit('2', '2\n3\n')])).toString()).toBe('one\n2\n3\n')
    expect((await changed('crlf.txt', [edit('two', 'two\nthree')])).toString()).toBe('one\r\ntwo\r\nthree')
  })

  test('of a very long line is made, and shown shortened; so are mismatches', async () => {
    const wide = 'var a=1;'.repeat(100_000)
    stage = await openStage({ files: { 'wide.js': `${wide}var b=2;${wide}` } })
    expect((await changed('wide.js', [edit('b=2', 'b=3')])).toString()).toBe(`${wide}var b=3;${wide}`)
    const { displayContent: shown } = await stage.call('edit_file', { path: 'wide.js', edits: [edit('b=3', 'b=4')] })
    expect(JSON.stringify(shown)).toMatch(/that is too long to show/u)
    for (const old_text of ['var a=1;', 'var c', wide.slice(1)])
      expect(await said('wide.js', edit(old_text, 'x'))).toMatch(/^Error: .{1,400}Nothing was changed\.$/su)
  })

  test('of a file that changed meanwhile is refused', async () => {
    const paths = ['a.txt', 'b.txt', 'c.txt', 'd.txt']
    stage = await openStage({ files: Object.fromEntries([...paths, 'other.txt'].map((path) => [path, 'x'])) })
    for (const path of paths) await stage.say('read_file', { path })
    for (const path of paths) await rm(stage.path(path))
    await mkdir(stage.path('a.txt'))
    await symlink('other.txt', stage.path('b.txt'))
    await symlink('/etc/hostname', stage.path('c.txt'))
    const one = edit('x', 'y')
    expect(await said('a.txt', one)).toBe('Error: a.txt is a directory. Use list_directory.')
    expect(await said('b.txt', one)).toBe('Error: Read other.txt with read_file first. Nothing was changed.')
    expect(await said('c.txt', one)).toContain('outside the directories of this session')
    expect(await said('d.txt', one)).toBe('Error: There is no file "d.txt".')
    expect(await readFile(stage.path('other.txt'), 'utf8')).toBe('x')
  })

  test('by two calls at once does both, one after the other', async () => {
    stage = await openStage({ files: { 'a.txt': '1 2 3 4 5 6 7 8\n' } })
    await stage.say('read_file', { path: 'a.txt' })
    const edits = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => said('a.txt', edit(`${n}`, 'x')))
    expect(new Set(await Promise.all(edits))).toEqual(new Set(['Edited a.txt in one place.']))
    expect(await readFile(stage.path('a.txt'), 'utf8')).toBe('x x x x x x x x\n')
  })

  test('changes the unsaved text where the client serves files, and never the disk behind it where the client serves only reads', async () => {
    stage = await openStage({ files: { 'a.txt': 'saved' } })
    const buffer = new Map([[stage.path('a.txt'), 'unsaved']])
    const readTextFile = async ({ path }: { path: string }) => buffer.get(path) ?? ''
    stage.client = { ...stage.client, readTextFile }
    await stage.say('read_file', { path: 'a.txt' })
    const one = edit('unsaved', 'edited')
    expect(await said('a.txt', one)).toContain('unsaved changes in the editor')
    stage.client = { ...stage.client, writeTextFile: async ({ path, content }) => void buffer.set(path, content) }
    expect(await said('a.txt', one)).toBe('Edited a.txt in one place.')
    expect([...buffer.values()]).toEqual(['edited'])
    expect(await readFile(stage.path('a.txt'), 'utf8')).toBe('saved')
  })
})

describe('a file', () => {
  const written = (path: string, content: string) => stage.say('write_file', { path, content })

  test('is created with its directories, and replaced only if it was read before', async () => {
    stage = await openStage()
    expect(await written('a/b/c.txt', 'x\ny\n')).toBe('Made a/b/c.txt: 2 lines.')
    expect(await written('a/b/c.txt', 'z\n')).toBe('Replaced a/b/c.txt: 1 lines.')
    await writeFile(stage.path('a/b/c.txt'), 'other')
    expect(await written('a/b/c.txt', 'z')).toContain('has changed since you read it')
    expect(await readFile(stage.path('a/b/c.txt'), 'utf8')).toBe('other')
    expect(await written('a', 'z')).toContain('a is a directory')
  })

  test('may be empty, and has at most one byte order mark', async () => {
    stage = await openStage({ files: { 'empty.txt': '', 'marked.txt': '\uFEFFx\n' } })
    for (const path of ['empty.txt', 'marked.txt']) await stage.say('read_file', { path })
    const edits = [edit('', 'x')]
    expect(await stage.say('edit_file', { path: 'empty.txt', edits })).toContain('old_text is empty')
    expect(await written('empty.txt', '')).toBe('Replaced empty.txt: 0 lines.')
    for (const path of ['marked.txt', 'new.txt']) {
      await written(path, '\uFEFFa\n')
      expect((await changed(path, [edit('a', 'b')])).toString()).toBe('\uFEFFb\n')
    }
  })

  test('that is read-only, a pipe, or a link to elsewhere is left alone', async () => {
    stage = await openStage({ files: { 'fixed.txt': 'x', 'real.txt': 'x' } })
    await chmod(stage.path('fixed.txt'), 0o444)
    execFileSync('mkfifo', [stage.path('pipe')])
    await symlink('real.txt', stage.path('link'))
    for (const path of ['fixed.txt', 'link']) await stage.say('read_file', { path })
    expect(await written('fixed.txt', 'y')).toBe('Error: fixed.txt is read-only and was not changed.')
    expect(await written('pipe', 'y')).toContain('a named pipe')
    expect(await written('link', 'y')).toBe('Replaced real.txt: 1 lines.')
    expect(await readFile(stage.path('real.txt'), 'utf8')).toBe('y')
  })
})

describe('a text to replace that does not match', () => {
  test.each<readonly [name: string, text: string, one: ReturnType<typeof edit>, advice: string]>([
    ['twice', 'a\nb\na\n', edit('a', 'c'), 'old_text occurs 2 times (lines 1, 3)'],
    ['twice, one in the other', '{\n}\n}\n}\n', edit('}\n}\n', '}\n'), 'old_text occurs 2 times (lines 2, 3)'],
    ['nowhere', 'a\nb\n', edit('q', 'c'), 'Read the file again and quote it exactly.'],
    ['other blanks', 'x {\n\ty\n}\n', edit('x {\n  y\n}', ''), 'only in whitespace, first in line 2, which is "\\ty"'],
    [
      'other words',
      'start\nthen this\n',
      edit('start\nthen that\n', ''),
      'line 2 is "then this" there and "then that"',
    ],
    ['done before', 'new text\n', edit('old text', 'new text'), 'new_text is, in line 1: was it done before?'],
    ['nothing', 'a', edit('', 'b'), 'old_text is empty'],
    ['the same', 'a', edit('a', 'a'), 'are the same'],
  ])('%s: is refused with advice', (...[, text, one, advice]) => {
    expect(() => applyEdits(text, [one])).toThrow(advice)
  })

  test('gets its advice in bounded time, for a long quotation of a long file that repeats itself', () => {
    const old_text = `${'a\n'.repeat(50_000)}b`
    expect(explainMismatch('a\n'.repeat(200_000), { old_text, new_text: '' })).toContain('old_text')
  })

  test('edits that overlap, or undo each other, are refused', () => {
    const overlapping = [edit('one two', '1 2'), edit('two three', '2 3')]
    expect(() => applyEdits('one two three', overlapping)).toThrow('Edit 2 of 2: old_text is not in the file')
    expect(() => applyEdits('one', [edit('one', 'two'), edit('two', 'one')])).toThrow('undo each other')
  })

  test('one edit that does not fit leaves the others undone', async () => {
    stage = await openStage({ files: { 'a.txt': 'one two' } })
    await stage.say('read_file', { path: 'a.txt' })
    const said = await stage.say('edit_file', { path: 'a.txt', edits: [edit('one', '1'), edit('three', '3')] })
    expect(said).toContain('Edit 2 of 2: old_text is not in the file')
    expect(await readFile(stage.path('a.txt'), 'utf8')).toBe('one two')
  })
})

test('an edit can be undone by its reverse, and nothing else has changed', () => {
  const line = fc.stringMatching(/^[a-c \t]{0,6}$/u)
  const linesWith = (...ends: readonly string[]) =>
    fc.array(fc.tuple(line, fc.constantFrom(...ends)), { maxLength: 12 }).map((lines) => lines.flat().join(''))
  const pair = (...ends: readonly string[]) =>
    fc.tuple(linesWith(...ends), linesWith(...ends), fc.constant(ends.length))
  const texts = fc.oneof(pair('\n'), pair('\r\n'), pair('\n', '\r\n'))
  fc.assert(
    fc.property(texts, fc.nat(), fc.nat(), ([before, after, kinds], from, length) => {
      const start = from % (before.length + 1)
      // The new text is one that was not there, so that it is unique on the way back.
      const old_text = before.slice(start, start + 1 + (length % 8))
      const new_text = `«${after}»`
      fc.pre(old_text !== '' && before.indexOf(old_text) === before.lastIndexOf(old_text))
      fc.pre(!/^\n|\r$/u.test(old_text) && !before.includes('«'))
      const edited = applyEdits(before, [edit(old_text, new_text)])
      expect(edited.places).toBe(1)
      expect(edited.text.startsWith(before.slice(0, start))).toBe(true)
      expect(edited.text.endsWith(before.slice(start + old_text.length))).toBe(true)
      const between = edited.text.slice(start, edited.text.length - (before.length - start - old_text.length))
      // Where ends of lines are mixed, those of what comes back are those of its place.
      if (kinds === 1) expect(applyEdits(edited.text, [edit(between, old_text)]).text).toBe(before)
    }),
    { numRuns: 200 },
  )
})
