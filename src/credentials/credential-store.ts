/** The credentials of a server and of the commands on its machine: files of the state directory, or in a cluster what all nodes share. */
import { reasonOf } from '../errors/parley-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { TokenHolder } from './access-tokens.ts'
import { Credentials, KeyRing } from './key-ring.ts'

export interface CredentialStore {
  /** As they are known here, without waiting. For reading only. */
  readonly known: Credentials
  /**
   * Resolves when `known` is as new as this call. Absent where it always is. Throws CLUSTER_UNREACHABLE; then a credential that is not
   * known may exist nevertheless.
   */
  readonly refresh?: () => Promise<void>
  /** Changes them for all who use them, one change after the other. Throws what `change` throws, and CLUSTER_UNREACHABLE. */
  change<Result>(change: (credentials: Credentials) => Result): Promise<Result>
  /** Notes that the holder has connected. Nothing waits for this. */
  used(holder: TokenHolder): void
  close(): Promise<void>
}

/** The files of one state directory. */
export class CredentialFiles implements CredentialStore {
  readonly known: Credentials

  constructor(home: string, clock: Pick<Clock, 'now'>) {
    this.known = new Credentials(home, clock)
  }

  async change<Result>(change: (credentials: Credentials) => Result): Promise<Result> {
    return change(this.known)
  }

  used(holder: TokenHolder): void {
    this.known.used(holder)
  }

  async close(): Promise<void> {}
}

/** Which credentials are valid now. */
export class LiveKeyRing {
  readonly #credentials: CredentialStore
  readonly #report: (error: unknown) => void
  #ring = new KeyRing([])
  /** Of credentials that cannot be used. They are reported once. */
  #problems: ReadonlySet<string> = new Set()

  constructor(credentials: CredentialStore, report: (error: unknown) => void) {
    this.#credentials = credentials
    this.#report = report
  }

  /** As of the last look. */
  get current(): KeyRing {
    return this.#ring
  }

  look(): KeyRing {
    const problems = new Set<string>()
    this.#ring = this.#credentials.known.ring((error) => {
      const problem = reasonOf(error)
      problems.add(problem)
      if (!this.#problems.has(problem)) this.#report(error)
    })
    this.#problems = problems
    return this.#ring
  }

  /** Undefined for a wrong secret. Throws CLUSTER_UNREACHABLE where that cannot be known now. */
  async holderOf(secret: string): Promise<TokenHolder | undefined> {
    const holder = this.look().holderOf(secret)
    const { refresh } = this.#credentials
    if (holder !== undefined || refresh === undefined) return holder
    // It may have been made on another machine just now.
    await refresh()
    return this.look().holderOf(secret)
  }
}
