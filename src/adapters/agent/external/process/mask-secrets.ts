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

  /** JSON with every text in it masked; the value itself if it has none of them, which is found out without a copy. */
  maskJson(value: unknown): unknown {
    if (this.#values.length === 0 || !this.#isIn(value)) return value
    const text = JSON.stringify(value, (_key, one: unknown) => (typeof one === 'string' ? this.mask(one) : one))
    // What is left of them are keys.
    return JSON.parse(this.mask(text)) as unknown
  }

  /** Without recursion: an agent may nest as deep as it likes. */
  #isIn(value: unknown): boolean {
    const open: unknown[] = [value]
    while (open.length > 0) {
      const one = open.pop()
      if (typeof one === 'string') {
        if (this.#values.some((secret) => one.includes(secret))) return true
      } else if (Array.isArray(one)) {
        for (const part of one) open.push(part)
      } else if (typeof one === 'object' && one !== null) {
        for (const [key, part] of Object.entries(one)) open.push(key, part)
      }
    }
    return false
  }
}
