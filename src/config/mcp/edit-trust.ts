/** Gives and withdraws consent to what a project's file says. For commands, which may wait for a disk and for each other. */
import { replaceFile } from '../../state-files/atomic-file.ts'
import { lockedNow } from '../../state-files/file-lock.ts'
import { type Consent, type Consents, consentFile, consentsOf } from './trust-store.ts'
import { readTextSync } from '../../state-files/bounded-read.ts'

/** Replaces an earlier consent for the same name in the same file. */
export function allow(home: string, digest: string, consent: Consent): void {
  change(home, (consents) => ({ ...without(consents, consent), [digest]: consent }))
}

export function withdrawTrust(home: string, consent: Consent): void {
  change(home, (consents) => without(consents, consent))
}

function without(consents: Consents, { file, name }: Consent): Consents {
  const others = Object.entries(consents).filter(([, one]) => one.file !== file || one.name !== name)
  return Object.fromEntries(others)
}

/** Throws where the file exists and cannot be read, because replacing it would lose the consents in it. */
function change(home: string, changed: (consents: Consents) => Consents): void {
  const path = consentFile(home)
  lockedNow(path, () => replaceFile(path, `${JSON.stringify(changed(consentsOf(readTextSync(path))), null, 2)}\n`))
}
