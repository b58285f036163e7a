/** Prints sentences to standard error, without control characters. Every command loads this file, so it imports nothing. */

/** Characters that control a terminal or the direction of text, or that are invisible. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Text whose letters are what they seem, on the lines that it has. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, ' ')
}

/** One line, under the name of the program. */
export function complain(sentence: string): void {
  process.stderr.write(`parley: ${printable(sentence).replaceAll('\n', ' ')}\n`)
}
