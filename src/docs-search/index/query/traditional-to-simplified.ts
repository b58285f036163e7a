/** Traditional characters as simplified ones, so that either finds both. No text gets longer or shorter, so offsets stay. */
import { Converter } from 'opencc-js/t2cn'

/** The characters of one UTF-16 unit each that any text of today is written in. */
const [FIRST, LAST] = [0x3400, 0x9fff]

const HAN = /\p{sc=Han}/u

interface Table {
  readonly simplified: ReadonlyMap<string, string>
  /** Finds what is in the table. */
  readonly traditional: RegExp
}

/** Made with the first text that has Chinese characters, because it takes longer than the rest of a thread's start. */
let known: Table | undefined

export function simplified(text: string): string {
  if (!HAN.test(text)) return text
  known ??= table()
  const { simplified: characters, traditional } = known
  return text.replace(traditional, (character) => characters.get(character) ?? character)
}

/** Asks for each character alone: the library also knows phrases, whose length may change. */
function table(): Table {
  const all = Array.from({ length: LAST - FIRST + 1 }, (_, i) => String.fromCharCode(FIRST + i))
  const converted = Converter({ from: 't', to: 'cn' })(all.join('\n')).split('\n')
  const pairs = all.map((character, i) => [character, converted[i] ?? character] as const)
  const simplifiedOf = new Map(pairs.filter(([from, to]) => from !== to && from.length === to.length))
  return { simplified: simplifiedOf, traditional: new RegExp(`[${[...simplifiedOf.keys()].join('')}]`, 'g') }
}
