import { expect, test } from 'vitest'
import { fitting } from './command-list.tsx'

const commands = [{ name: 'review' }, { name: 'preview' }, { name: 'Read' }]

test.each([
  ['/re', ['review', 'Read', 'preview']],
  ['/', ['review', 'preview', 'Read']],
  ['/review ', []],
  ['see /re', []],
  ['', []],
])('commands for %j: %j', (draft, names) => expect(fitting(commands, draft).map(({ name }) => name)).toEqual(names))
