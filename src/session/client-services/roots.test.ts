/** The files of a client that a turn may name: those inside its directories, whatever the spelling. */
import { describe, expect, test } from 'vitest'
import { resolveWithinRoots } from './roots.ts'

const roots = ['/home/ada/app', '/data/']

describe('a path inside the directories of a turn', () => {
  test.each([
    ['/home/ada/app', '/home/ada/app'],
    ['/home/ada/app/a.txt', '/home/ada/app/a.txt'],
    ['/home/ada/app//b/./c/../a.txt', '/home/ada/app/b/a.txt'],
    ['/data/x', '/data/x'],
    ['/home/ada/app/..a', '/home/ada/app/..a'],
  ])('%s is accepted', (path, place) => {
    expect(resolveWithinRoots(path, roots)).toBe(place)
  })

  test('everything is inside the root of the disk', () => {
    expect(resolveWithinRoots('/etc/hosts', ['/'])).toBe('/etc/hosts')
  })

  test('paths of a client on Windows are compared as Windows paths', () => {
    expect(resolveWithinRoots('C:\\app\\src/../a.txt', ['C:\\app'])).toBe('C:\\app\\a.txt')
    expect(() => resolveWithinRoots('C:\\app\\..\\b', ['C:\\app'])).toThrow('outside')
  })
})

describe('a path outside the directories of a turn', () => {
  test.each([
    '/home/ada/application/a.txt',
    '/home/ada/app/../b.txt',
    '/home/ada/app/../../../etc/passwd',
    '/etc/passwd',
    '/',
    '/../data',
  ])('%s is refused', (path) => {
    const attempt = () => resolveWithinRoots(path, ['/home/ada/app'])
    expect(attempt).toThrow('outside')
  })

  test.each(['a.txt', './a.txt', '', '~/a.txt', 'file:///home/ada/app/a', '/home/ada/app/\0'])(
    '%j is not absolute',
    (path) => {
      expect(() => resolveWithinRoots(path, roots)).toThrow('absolute path')
    },
  )
})
