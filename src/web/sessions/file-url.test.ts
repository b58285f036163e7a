import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { fileUrl } from './file-url.ts'

test.each(['/work/a b#?.txt', '/ü/100%'])('%s is what Node makes of it', (path) => {
  expect(new URL(fileUrl(path)).href).toBe(pathToFileURL(path).href)
})

test.each([
  ['C:\\a b\\c.txt', 'file:///C:/a%20b/c.txt'],
  ['c:/a', 'file:///c:/a'],
  ['\\\\host\\share\\a', 'file://host/share/a'],
])('%s of Windows is %s', (path, url) => expect(fileUrl(path)).toBe(url))
