import { expect, test } from 'vitest'
import { catchesPath, executorOf, isGoverning, isWithin, placesIn } from './path-rules.ts'
import { ambiguityOf } from './windows-paths.ts'

test('paths on Windows ignore case and accept either slash', () => {
  expect(isWithin('c:\\WORK\\a.txt', 'C:/work')).toBe(true)
  expect(isWithin('C:\\Work\\a', 'c:/work')).toBe(true)
  expect(isWithin('C:\\a', 'C:\\')).toBe(true)
  expect(isWithin('C:\\workshop', 'C:\\work')).toBe(false)
  expect(isWithin('D:\\work\\a', 'C:\\work')).toBe(false)
  expect(isWithin('\\\\host\\share\\a', '\\\\HOST\\share')).toBe(true)
  expect(placesIn(['C:\\Work'], 'c:/work/Sub\\A.txt')).toEqual(['sub/a.txt'])
})

test('rules match Windows paths', () => {
  expect(catchesPath('secrets/**', ['C:\\work\\Secrets\\key'], ['C:\\work'])).toBe(true)
  expect(catchesPath('/.env', ['C:\\work\\.ENV'], ['C:\\work'])).toBe(true)
  expect(isGoverning('C:\\work\\.git\\hooks\\pre-commit')).toBe(true)
  expect(executorOf('C:\\work\\.husky\\pre-commit')).toBe('git')
  expect(executorOf('\\\\host\\share\\.vscode\\tasks.json')).toBe(executorOf('/work/.vscode/tasks.json'))
})

test('on other systems a backslash is a letter, and case matters', () => {
  expect(isWithin('/Work/a', '/work')).toBe(false)
  expect(isWithin('/work\\a', '/work')).toBe(false)
  expect(placesIn(['/work'], '/work/a\\b')).toEqual(['a\\b'])
})

test.each(['.env:stream', '.env::$DATA', '.env.', '.env ', 'NUL', 'con.txt', 'COM1', 'lpt³'])(
  '%j names another file than it seems to',
  (name) => {
    expect(ambiguityOf(name)).toBeDefined()
  },
)

test.each(['.env', 'a.b', 'console.ts', 'nullable', 'com10', '...a'])('%j names itself', (name) => {
  expect(ambiguityOf(name)).toBeUndefined()
})
