/** Encrypts a message for one browser alone: RFC 8291, in the encoding of RFC 8188. The push service sees nothing of it. */
import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import type { PushTarget } from '../../ports/values/push.ts'

export const CURVE = 'prime256v1'
/** Of a point of the curve that is not compressed. */
const KEY_BYTES = 65
export const AUTH_BYTES = 16
const RECORD_BYTES = 4_096

/** Chance; a test of the RFC's example has its own. */
export interface Chance {
  readonly salt: Buffer
  readonly privateKey: Buffer | undefined
}

/** Throws for a key that is none. */
export function encrypt(
  text: string,
  target: PushTarget,
  { salt, privateKey }: Chance = { salt: randomBytes(16), privateKey: undefined },
): Buffer {
  const ours = createECDH(CURVE)
  if (privateKey === undefined) ours.generateKeys()
  else ours.setPrivateKey(privateKey)
  const theirs = Buffer.from(target.p256dh, 'base64url')
  const shared = ours.computeSecret(theirs)
  const both = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, ours.getPublicKey()])
  const secret = derived(shared, { salt: Buffer.from(target.auth, 'base64url'), info: both, bytes: 32 })
  const key = derived(secret, { salt, info: Buffer.from('Content-Encoding: aes128gcm\0'), bytes: 16 })
  const nonce = derived(secret, { salt, info: Buffer.from('Content-Encoding: nonce\0'), bytes: 12 })
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const head = Buffer.alloc(21)
  salt.copy(head)
  head.writeUInt32BE(RECORD_BYTES, 16)
  head.writeUInt8(KEY_BYTES, 20)
  // The 2 says that this record is the last.
  const body = [cipher.update(text, 'utf8'), cipher.update(Buffer.from([2])), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat([head, ours.getPublicKey(), ...body])
}

interface Derivation {
  readonly salt: Buffer
  readonly info: Buffer
  readonly bytes: number
}

function derived(secret: Buffer, { salt, info, bytes }: Derivation): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))
}
