/**
 * Whether the files of an owner are still those under its directory. One that was moved or removed while it is open can be written to
 * as before: what is stored then nobody finds again, and a lock on it keeps nobody else out.
 */
import { statSync } from 'node:fs'

export interface LockIdentity {
  /** Throws when one of them is another file now, or none. */
  require(): void
}

/** As they are now, which is right after they were opened. */
export function lockIdentityOf(...paths: readonly string[]): LockIdentity {
  const known = paths.map((path) => [path, identityOf(path)] as const)
  return {
    require() {
      for (const [path, identity] of known)
        if (identityOf(path) !== identity) throw new Error(`${path} was moved or removed while it was in use`)
    },
  }
}

/** Empty where there is none. */
function identityOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev} ${found.ino}`
}
