/** A session has a title of one line, from its first prompt, from a user, or from the session that it is a fork of. */
import { describe, expect, test } from 'vitest'
import type { Content } from '../../ports/values/content.ts'
import { text } from '../../../test/sim/words.ts'
import { forkTitle, parseTitle, titleFrom } from './title.ts'

const image: Content = { type: 'image', data: 'AA==', mimeType: 'image/png' }
const x = (count: number): string => 'x'.repeat(count)

describe('the first prompt', () => {
  test.each<[what: string, prompt: readonly Content[], title: string | undefined]>([
    ['of several lines gives one line', [text('  Mend \n\n\t this  ')], 'Mend this'],
    ['of several texts gives all of them', [text('Mend'), image, text('this')], 'Mend this'],
    ['without words gives none', [image, text(' \n')], undefined],
    ['of nothing gives none', [], undefined],
    ['of 80 letters gives all of them', [text('👋'.repeat(80))], '👋'.repeat(80)],
    ['of more is cut', [text(x(81))], `${x(79)}…`],
    ['is not cut behind a space', [text(`${x(78)} yyyy`)], `${x(78)}…`],
    ['that begins with much empty space gives its first words', [text(`${' '.repeat(3_000)}Mend`)], 'Mend'],
    ['gives nothing of what stands far behind', [text(`Mend${' '.repeat(3_000)}this`)], 'Mend'],
    ['gives nothing of a text far behind', [text(`a${' '.repeat(1_999)}`), text('b')], 'a'],
  ])('%s', (_what, prompt, title) => expect(titleFrom(prompt)).toBe(title))
})

describe('a title that is given', () => {
  test.each([
    ['  Mend \n this ', 'Mend this'],
    [x(200), x(200)],
    ['👋'.repeat(200), '👋'.repeat(200)],
  ])('%j is taken', (given, title) => expect(parseTitle(given)).toBe(title))
  test.each(['', ' \n ', x(201), 'red \u001b[31m', 'nul \0', 'half \ud83d'])('%j is refused', (given) =>
    expect(() => parseTitle(given)).toThrow(expect.objectContaining({ code: 'TITLE_INVALID' })),
  )
})

test.each([
  ['Mine', 'Fork of Mine'],
  ['Fork of Mine', 'Fork of Mine'],
  [x(200), `Fork of ${x(191)}…`],
])('a fork of %j is called %j', (title, ofFork) => expect(forkTitle(title)).toBe(ofFork))
