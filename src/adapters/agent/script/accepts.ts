/** What prompt content a script's agent takes, found without reading the script: whoever introduces itself waits for this. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { PromptKinds } from '../../../ports/agent.ts'
import { linesOf, offerIn } from './lines.ts'
import { nothingOffered } from './offer.ts'

/** Nobody has so much to offer. Bytes. */
const LONGEST_OFFER = 256 * 1024

/** Only text and links where the script does not say, or cannot be read: the session's next turn tells what is wrong. */
export function acceptedBy(path: string): PromptKinds {
  try {
    const [first] = linesOf(beginningOf(path))
    return (first === undefined ? undefined : offerIn(first.line)?.accepts) ?? nothingOffered.accepts
  } catch {
    return nothingOffered.accepts
  }
}

function beginningOf(path: string): string {
  // A pipe would be waited for, and what was read of it would be missing later.
  if (!statSync(path).isFile()) return ''
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(LONGEST_OFFER)
    return bytes.toString('utf8', 0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}
