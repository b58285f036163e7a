/** Secrets that clients show: random, so that a plain hash of one gives nothing away, and only that hash is kept. */
import { createHash, randomBytes } from 'node:crypto'

/** Makes a leaked token recognisable to those who look for secrets. */
const TOKEN_PREFIX = 'parley_'
const TOKEN_BYTES = 32
/** The beginning of a link's code is no secret: it finds what the code was made for, so that wrong tries are counted there. */
const LINK_ID_BYTES = 3
const LINK_BYTES = 16
const LINK_ID_LENGTH = 4

/** 256 random bits. */
export function newToken(): string {
  return `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`
}

/** 128 random bits behind a short id, 26 characters in all: it must fit into a link that is shown as a QR code. */
export function newLinkCode(): string {
  return `${newLinkId()}${randomBytes(LINK_BYTES).toString('base64url')}`
}

/** Commands take it as an argument, and an argument that begins with a hyphen is an option. */
function newLinkId(): string {
  const id = randomBytes(LINK_ID_BYTES).toString('base64url')
  return id.startsWith('-') ? newLinkId() : id
}

/** Names something, and is no secret. */
export function newPublicId(): string {
  return randomBytes(4).toString('hex')
}

/** The part of a link's code that is no secret. */
export function linkIdOf(code: string): string {
  return code.slice(0, LINK_ID_LENGTH)
}

/** SHA-256, in hexadecimal digits. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[\da-f]{64}$/u.test(value)
}
