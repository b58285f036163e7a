/** Keeps the secrets that an agent was given out of the log, of errors and of the journal. */

/** A shorter value would be found in words that are no secret. */
const MIN_SECRET_CHARS = 8
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|COOKIE/iu
const MASK = '[secret]'

export class Secrets {
  #values: readonly string[] = []

  /** Variables or headers: the values of those whose names say that they are secret. */
  constructor(table: Readonly<Record<string, string>> = {}) {
    this.add(table)
  }

  add(table: Readonly<Record<string, string>>): void {
    const more = Object.entries(table)
      // Of `Bearer TOKEN` the token alone is the secret.
      .flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value, value.replace(/^\S+ /u, '')] : []))
      .filter((value) => value.length >= MIN_SECRET_CHARS && !value.startsWith('/'))
    // One may contain another.
    this.#values = [...new Set([...this.#values, ...more])].toSorted((left, right) => right.length - left.length)
  }

  /** The text without them. */
  mask(text: string): string {
    return this.#values.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
  }

  /** JSON with every text in it masked. */
  maskJson(value: unknown): unknown {
    if (this.#values.length === 0) return value
    const text = JSON.stringify(value)
    if (text === undefined) return value
    const masked = this.mask(text)
    return masked === text ? value : (JSON.parse(masked) as unknown)
  }
}
