/** Which servers of project files the user has allowed: by what exactly they say, so that a changed one is asked about anew. */
import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { McpEntry } from './mcp.ts'
import { textOfFileNow } from './text-of-file.ts'

interface Consent {
  readonly file: string
  readonly name: string
}

type Consents = Readonly<Record<string, Consent>>

/** The same words in another project start another program. */
export function digestOf(file: string, { name, place, rules, login }: McpEntry): string {
  return createHash('sha256')
    .update(JSON.stringify([file, name, place, rules, ...(login === undefined ? [] : [login])]))
    .digest('hex')
}

export function isAllowed(home: string, digest: string): boolean {
  return Object.hasOwn(consentsIn(home), digest)
}

/** What was allowed before under this name of this file counts no longer. */
export function allow(home: string, digest: string, consent: Consent): void {
  write(home, { ...without(consentsIn(home), consent), [digest]: consent })
}

export function withdraw(home: string, consent: Consent): void {
  write(home, without(consentsIn(home), consent))
}

function without(consents: Consents, { file, name }: Consent): Consents {
  const others = Object.entries(consents).filter(([, one]) => one.file !== file || one.name !== name)
  return Object.fromEntries(others)
}

/** A small file of our own, read at once: nothing comes between the look at what is allowed and the start of that. */
function consentsIn(home: string): Consents {
  try {
    const found: unknown = JSON.parse(textOfFileNow(pathIn(home)) ?? '{}')
    return typeof found === 'object' && found !== null ? (found as Consents) : {}
  } catch {
    // None was given yet; a file that cannot be read allows nothing.
    return {}
  }
}

function write(home: string, consents: Consents): void {
  const path = pathIn(home)
  const draft = `${path}.${process.pid}`
  mkdirSync(home, { recursive: true, mode: 0o700 })
  writeFileSync(draft, `${JSON.stringify(consents, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

function pathIn(home: string): string {
  return join(home, 'mcp-consent.json')
}
