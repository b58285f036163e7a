/** Where a text stops being JSON, without a word of it: it may hold secrets. */
import { reasonOf } from '../errors/parley-error.ts'

/** `it is not valid JSON (line 3, column 7)`. */
export function jsonFault(text: string): string {
  const before = text.slice(0, validLength(text)).split('\n')
  return `it is not valid JSON (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`
}

/** Characters from the beginning that more text could complete to JSON. */
function validLength(text: string): number {
  let valid = 0
  let wrong = text.length + 1
  while (wrong - valid > 1) {
    const middle = Math.floor((valid + wrong) / 2)
    if (canGoOn(text.slice(0, middle))) valid = middle
    else wrong = middle
  }
  return valid
}

function canGoOn(start: string): boolean {
  try {
    JSON.parse(start)
    return true
  } catch (error) {
    const at = /at position (\d+)/u.exec(reasonOf(error))?.[1]
    return at === undefined ? /end of JSON input/u.test(reasonOf(error)) : Number(at) >= start.length
  }
}
