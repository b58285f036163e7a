/** Traditional characters as simplified ones, so that either finds both. No text gets longer or shorter, so offsets stay. */
import { Converter } from 'opencc-js/t2cn'

/** The characters of one UTF-16 unit each that any text of today is written in. */
const [FIRST, LAST] = [0x3400, 0x9fff]

const SIMPLIFIED = table()
const TRADITIONAL = new RegExp(`[${[...SIMPLIFIED.keys()].join('')}]`, 'g')
const HAN = /\p{sc=Han}/u

export function simplified(text: string): string {
  return HAN.test(text) ? text.replace(TRADITIONAL, (character) => SIMPLIFIED.get(character) ?? character) : text
}

/** Asks for each character alone: the library also knows phrases, whose length may change. */
function table(): ReadonlyMap<string, string> {
  const all = Array.from({ length: LAST - FIRST + 1 }, (_, i) => String.fromCharCode(FIRST + i))
  const converted = Converter({ from: 't', to: 'cn' })(all.join('\n')).split('\n')
  const pairs = all.map((character, i) => [character, converted[i] ?? character] as const)
  return new Map(pairs.filter(([from, to]) => from !== to && from.length === to.length))
}
