/** Made-up documents whose words are spread as in real text: a few everywhere, most almost nowhere; English and Chinese. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface Corpus {
  readonly directory: string
  readonly documents: number
  readonly bytes: number
}

/** Words by rank: the first is the most frequent. */
export interface Vocabulary {
  readonly english: readonly string[]
  readonly chinese: readonly string[]
}

/** The same numbers for the same seed, on every machine. */
export type Chance = () => number

const FREQUENT =
  'the of and to a in is for that it with as on be this are or by from an at which can not will if when has you all one use file session server request data time value key error handler index document search line text path name type set list code user system read write open close start'.split(
    ' ',
  )
const ONSETS = [
  'b',
  'br',
  'c',
  'cl',
  'd',
  'dr',
  'f',
  'fl',
  'g',
  'gr',
  'h',
  'l',
  'm',
  'n',
  'p',
  'pl',
  'qu',
  'r',
  's',
  'st',
]
const RIMES = [
  'a',
  'an',
  'ar',
  'e',
  'en',
  'er',
  'i',
  'in',
  'ing',
  'o',
  'on',
  'or',
  'u',
  'um',
  'ate',
  'ion',
  'ent',
  'ous',
]
const ENGLISH_WORDS = 80_000
const CHINESE_WORDS = 30_000
const CHARACTERS = 3_000
/** Han characters from here on; the frequent ones of real text lie all over the block. */
const FIRST_CHARACTER = 0x4e00
const FILES_PER_FOLDER = 500

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function vocabulary(): Vocabulary {
  const chance = chanceOf(7)
  const english = new Set(FREQUENT)
  while (english.size < ENGLISH_WORDS) english.add(syllables(chance, 1 + Math.floor(chance() * 4)))
  const chinese = new Set<string>()
  while (chinese.size < CHINESE_WORDS) chinese.add(characters(chance, chance() < 0.15 ? 1 : chance() < 0.8 ? 2 : 3))
  return { english: [...english], chinese: [...chinese] }
}

function syllables(chance: Chance, count: number): string {
  return Array.from({ length: count }, () => one(ONSETS, chance) + one(RIMES, chance)).join('')
}

function characters(chance: Chance, count: number): string {
  // Squared, so that some characters are in many words.
  const character = () => String.fromCodePoint(FIRST_CHARACTER + Math.floor(chance() ** 2 * CHARACTERS))
  return Array.from({ length: count }, character).join('')
}

function one(values: readonly string[], chance: Chance): string {
  return values[Math.floor(chance() * values.length)] ?? ''
}

/** Rank 1 twice as often as rank 2, three times as often as rank 3. */
function zipf(words: readonly string[], chance: Chance): string {
  const rank = Math.floor(Math.exp(chance() * Math.log(words.length + 1))) - 1
  return words[rank] ?? ''
}

export async function writeCorpus(directory: string, documents: number): Promise<Corpus> {
  const words = vocabulary()
  const chance = chanceOf(documents)
  let bytes = 0
  for (let i = 0; i < documents; i++) {
    const path = join(directory, fileOf(i))
    const text = i % 3 === 2 ? chineseDocument(i, words, chance) : englishDocument(i, words, chance)
    if (i % FILES_PER_FOLDER === 0) await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
    bytes += Buffer.byteLength(text)
  }
  return { directory, documents, bytes }
}

export function fileOf(document: number): string {
  return `${String(Math.floor(document / FILES_PER_FOLDER)).padStart(4, '0')}/document-${document}.md`
}

function englishDocument(id: number, { english }: Vocabulary, chance: Chance): string {
  const say = (count: number) => Array.from({ length: count }, () => zipf(english, chance)).join(' ')
  const sentence = () => `${say(6 + Math.floor(chance() * 14))}. `
  return sections(`Document ${id}: ${say(3)}`, () => ({ title: say(3), sentence }), chance)
}

function chineseDocument(id: number, { english, chinese }: Vocabulary, chance: Chance): string {
  const say = (count: number) => Array.from({ length: count }, () => zipf(chinese, chance)).join('')
  const sentence = () => {
    const name = chance() < 0.2 ? ` ${zipf(english, chance)} ` : ''
    return `${say(3 + Math.floor(chance() * 5))}，${name}${say(3 + Math.floor(chance() * 6))}。`
  }
  return sections(`文档${id}：${say(3)}`, () => ({ title: say(3), sentence }), chance)
}

interface SectionWords {
  readonly title: string
  readonly sentence: () => string
}

function sections(title: string, words: () => SectionWords, chance: Chance): string {
  const parts = Array.from({ length: 2 + Math.floor(chance() * 4) }, () => {
    const section = words()
    const paragraph = () => Array.from({ length: 3 + Math.floor(chance() * 5) }, section.sentence).join('')
    return `## ${section.title}\n\n${paragraph()}\n\n${paragraph()}\n`
  })
  return `# ${title}\n\n${parts.join('\n')}`
}
