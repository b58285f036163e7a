/** Halves of characters taken out: providers refuse a request with one, and so every later request of its conversation. */

const HALF = /\p{Surrogate}/u
const HALVES = /\p{Surrogate}/gu

/** The same value, in which no text and no name has half of a character; the very same where none had. */
export function stripLoneSurrogates<T>(value: T): T {
  return soundly(value) as T
}

function soundly(value: unknown): unknown {
  if (typeof value === 'string') return HALF.test(value) ? value.replaceAll(HALVES, '\uFFFD') : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const all: readonly unknown[] = value
    const made = all.map(soundly)
    return made.every((one, at) => one === all[at]) ? value : made
  }
  const entries = Object.entries(value)
  const made = entries.map(([name, one]) => [soundly(name), soundly(one)] as const)
  const isSame = made.every(([name, one], at) => name === entries[at]?.[0] && one === entries[at]?.[1])
  return isSame ? value : Object.fromEntries(made)
}
