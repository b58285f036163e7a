import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { fileUrl, mentionedIn } from './mentions.ts'

const chosen = ['foo.ts', 'foo.tsx', 'src'].map((name) => ({ name, path: `/work/${name}` }))

test.each([
  ['See @foo.ts', ['foo.ts']],
  ['See @foo.ts.', ['foo.ts']],
  ['(@foo.ts), please', ['foo.ts']],
  ['看@foo.ts，谢谢', ['foo.ts']],
  ['See @foo.tsx', ['foo.tsx']],
  ['See @foo.ts.bak and @foo.ts-old', []],
  ['See @foo.tsx and @foo.ts too', ['foo.ts', 'foo.tsx']],
  ['See @src/foo.ts', []],
  ['foo.ts', []],
])('a file is mentioned where its whole name stands behind an @: %s', (text, names) => {
  expect(mentionedIn(text, chosen).map(({ name }) => name)).toEqual(names)
})

test.each(['/work/a b#?.txt', '/ü/100%'])('%s is what Node makes of it', (path) => {
  expect(new URL(fileUrl(path)).href).toBe(pathToFileURL(path).href)
})

test.each([
  ['C:\\a b\\c.txt', 'file:///C:/a%20b/c.txt'],
  ['c:/a', 'file:///c:/a'],
  ['\\\\host\\share\\a', 'file://host/share/a'],
])('%s of Windows is %s', (path, url) => expect(fileUrl(path)).toBe(url))
