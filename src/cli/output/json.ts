/** Output for programs: one value per line. */

/**
 * Escapes characters that JSON leaves as they are, but that a terminal must not obey: control characters, direction marks,
 * other line ends. Escaped, they have the same value.
 */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

export function printJson(value: unknown): void {
  process.stdout.write(`${jsonLine(value)}\n`)
}

export function jsonLine(value: unknown): string {
  return escaped(JSON.stringify(value))
}

/** The line with control characters escaped: as JSON if it is JSON, otherwise each as a visible escape. */
export function escaped(line: string): string {
  return line.replace(STEERING, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
