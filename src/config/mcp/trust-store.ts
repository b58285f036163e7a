/**
 * The servers of project files that the user has allowed. Consent covers the exact text of a server, so that a changed one
 * needs new consent.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { McpEntry } from './mcp-servers.ts'
import { readTextSync } from '../../state-files/bounded-read.ts'

export interface Consent {
  readonly file: string
  readonly name: string
}

export type Consents = Readonly<Record<string, Consent>>

/** The same words in another project start another program. */
export function digestOf(file: string, { name, place, rules, login }: McpEntry): string {
  return createHash('sha256')
    .update(JSON.stringify([file, name, place, rules, ...(login === undefined ? [] : [login])]))
    .digest('hex')
}

export function isAllowed(home: string, digest: string): boolean {
  return Object.hasOwn(consentsIn(home), digest)
}

/** Read synchronously, so that nothing changes between the check and the start of the server. */
function consentsIn(home: string): Consents {
  try {
    return consentsOf(readTextSync(consentFile(home)))
  } catch {
    // A file that cannot be read allows nothing.
    return {}
  }
}

/** Of what is no list of consents none is left. */
export function consentsOf(text = '{}'): Consents {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null ? (found as Consents) : {}
  } catch {
    return {}
  }
}

export function consentFile(home: string): string {
  return join(home, 'mcp-consent.json')
}
