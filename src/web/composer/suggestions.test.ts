import { expect, test } from 'vitest'
import { scaled } from './attachments.ts'
import { fitting, written } from './suggestions.tsx'

const commands = [{ name: 'review' }, { name: 'preview' }, { name: 'Read' }]

test.each([
  ['re', ['review', 'Read', 'preview']],
  ['', ['review', 'preview', 'Read']],
  ['nothing', []],
])('commands for %j: %j', (typed, names) => expect(fitting(commands, typed).map(({ name }) => name)).toEqual(names))

test.each([
  ['/re|', { kind: 'command', typed: 're' }],
  ['/review src|', { kind: 'argument', command: 'review', typed: 'src' }],
  ['/review |src', { kind: 'text' }],
  ['see /re|', { kind: 'text' }],
  ['see @src/a|', { kind: 'file', typed: 'src/a', from: 5 }],
  ['@|', { kind: 'file', typed: '', from: 1 }],
  ['see @a| and more', { kind: 'file', typed: 'a', from: 5 }],
  ['ada@example.org|', { kind: 'text' }],
  ['/review @a|', { kind: 'file', typed: 'a', from: 9 }],
])('%j is written at the caret', (text, what) =>
  expect(written(text.replace('|', ''), text.indexOf('|'))).toEqual(what),
)

test.each([
  [4_000, 2_000, '2000 1000'],
  [1_000, 5_000, '400 2000'],
  [640, 480, '640 480'],
  [90_000, 1, '2000 1'],
])('a picture of %i × %i is sent as %s', (width, height, sent) =>
  expect(Object.values(scaled(width, height)).join(' ')).toBe(sent),
)
