/** What is asked: of each kind a few, each time with other words, the same for every system that is compared. */
import { type Chance, chanceOf, type Vocabulary, vocabulary } from './corpus.ts'

export interface Question {
  readonly kind: string
  readonly query: string
  readonly mode: 'best' | 'all' | 'phrase'
}

type Ask = (words: Vocabulary, chance: Chance) => string

const KINDS: readonly (readonly [string, Question['mode'], Ask])[] = [
  ['one frequent word', 'best', ({ english }, chance) => rank(english, chance, [40, 80])],
  ['one rare word', 'best', ({ english }, chance) => rank(english, chance, [5_000, 40_000])],
  ['two words', 'best', ({ english }, chance) => several(2, () => rank(english, chance, [60, 3_000]))],
  ['two words, all', 'all', ({ english }, chance) => several(2, () => rank(english, chance, [60, 3_000]))],
  [
    'a question',
    'best',
    ({ english }, chance) => `how does the ${several(4, () => rank(english, chance, [30, 6_000]))} of a session`,
  ],
  ['a phrase', 'phrase', ({ english }, chance) => several(2, () => rank(english, chance, [0, 30]))],
  ['a Chinese word', 'best', ({ chinese }, chance) => rank(chinese, chance, [5, 2_000])],
  ['two Chinese words', 'best', ({ chinese }, chance) => several(2, () => rank(chinese, chance, [5, 2_000]))],
  [
    'a Chinese question',
    'best',
    ({ chinese }, chance) =>
      `如何${rank(chinese, chance, [5, 2_000])}${rank(chinese, chance, [5, 2_000])}的${rank(chinese, chance, [50, 5_000])}`,
  ],
]

export function questions(rounds: number): readonly Question[] {
  const words = vocabulary()
  const chance = chanceOf(42)
  return Array.from({ length: rounds }, () =>
    KINDS.map(([kind, mode, ask]) => ({ kind, mode, query: ask(words, chance) })),
  ).flat()
}

function rank(words: readonly string[], chance: Chance, [from, to]: readonly [number, number]): string {
  return words[from + Math.floor(chance() * (to - from))] ?? ''
}

function several(count: number, word: () => string): string {
  return Array.from({ length: count }, word).join(' ')
}
