/** Keeps the secrets of an agent's environment out of the log, of errors and of the journal. */

/** A shorter value would be found in words that are no secret. */
const MIN_SECRET_CHARS = 8
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/iu
const MASK = '[secret]'

/** The text without the values of those variables whose names say that they are secret. */
export function maskOf(env: Readonly<Record<string, string>>): (text: string) => string {
  const secrets = Object.entries(env)
    .filter(([name, value]) => SECRET_NAME.test(name) && value.length >= MIN_SECRET_CHARS && !value.startsWith('/'))
    .map(([, value]) => value)
    // One may contain another.
    .toSorted((left, right) => right.length - left.length)
  if (secrets.length === 0) return NOTHING_TO_MASK
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
}

const NOTHING_TO_MASK = (text: string): string => text

/** JSON with every text in it masked. */
export function maskedJson(value: unknown, mask: (text: string) => string): unknown {
  if (mask === NOTHING_TO_MASK) return value
  const text = JSON.stringify(value)
  if (text === undefined) return value
  const masked = mask(text)
  return masked === text ? value : (JSON.parse(masked) as unknown)
}
