/** Output for programs: one value per line. */

/** JSON leaves some control characters as they are; a terminal that shows the line must not obey them. */
const CONTROLS = /[\u007f-\u009f]/gu

export function printJson(value: unknown): void {
  process.stdout.write(`${jsonLine(value)}\n`)
}

export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
