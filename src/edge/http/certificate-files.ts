/** Reads and checks the files of a certificate. An error is one sentence that names the file. */
import { type KeyObject, X509Certificate, createPrivateKey } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import type { Tls } from './server.ts'

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
  /** Certificates of authorities; clients show one that one of these has signed. */
  readonly clientCaFile?: string | undefined
}

const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/u
const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/u
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/mu
/** A file may hold several, the server's own first. */
const ONE_CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*(?:-----END [^-]*-----)?/gu

/** Throws CONFIG_INVALID. */
export function readTls({ certFile, keyFile, clientCaFile }: CertificateFiles): Tls {
  const cert = readCertificateFile('--tls-cert', certFile)
  const key = readCertificateFile('--tls-key', keyFile)
  const chain = certificatesIn('--tls-cert', certFile, cert)
  requireSame(chain, privateKeyIn(keyFile, key), { certFile, keyFile })
  if (clientCaFile === undefined) return { cert, key }
  const clientCa = readCertificateFile('--client-ca', clientCaFile)
  certificatesIn('--client-ca', clientCaFile, clientCa)
  return { cert, key, clientCa }
}

/** Why clients will refuse the certificate now, although the server can use it; undefined where they have no reason. */
export function remarkOn({ certFile }: CertificateFiles, { cert }: Pick<Tls, 'cert'>, now: number): string | undefined {
  const [{ validFrom, validTo }] = certificatesIn('--tls-cert', certFile, cert)
  const isOver = Date.parse(validTo) < now
  if (!isOver && Date.parse(validFrom) <= now) return undefined
  const when = isOver ? `ended on ${dayOf(validTo)}` : `begins on ${dayOf(validFrom)}`
  return `The certificate ${certFile} ${when}, so clients refuse it. Renew it; the server uses the new one within seconds.`
}

/** Changes with the files. */
export function changesOf({ certFile, keyFile, clientCaFile }: CertificateFiles): string {
  const files = [certFile, keyFile, clientCaFile].filter((file) => file !== undefined)
  return files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0).join(' ')
}

function readCertificateFile(key: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    return wrong([key, path], reasonOf(error), error)
  }
}

type Certificates = readonly [X509Certificate, ...X509Certificate[]]

function certificatesIn(key: string, path: string, content: Buffer): Certificates {
  const text = content.toString('latin1')
  const [first, ...others] = text.match(ONE_CERTIFICATE) ?? []
  if (first === undefined) {
    const isKey = PRIVATE_KEY.test(text)
    return wrong([key, path], isKey ? 'it is a private key, not a certificate' : 'it has no certificate in PEM form')
  }
  const parse = (pem: string, number: number): X509Certificate => {
    try {
      return new X509Certificate(pem)
    } catch (error) {
      return wrong([key, path], `certificate ${number} of ${others.length + 1} in it is damaged or cut off`, error)
    }
  }
  return [parse(first, 1), ...others.map((pem, index) => parse(pem, index + 2))]
}

function privateKeyIn(path: string, content: Buffer): KeyObject {
  const text = content.toString('latin1')
  if (ENCRYPTED.test(text)) {
    const way = 'write one without it, with: openssl pkey -in FILE -out NEWFILE'
    return wrong(['--tls-key', path], `it is protected by a passphrase; ${way}`)
  }
  if (!PRIVATE_KEY.test(text)) {
    const isCertificate = CERTIFICATE.test(text)
    const reason = isCertificate ? 'it is a certificate, not a private key' : 'it has no private key in PEM form'
    return wrong(['--tls-key', path], reason)
  }
  try {
    return createPrivateKey(content)
  } catch (error) {
    return wrong(['--tls-key', path], 'the private key in it is damaged or cut off', error)
  }
}

function requireSame(
  [own, ...others]: Certificates,
  key: KeyObject,
  { certFile, keyFile }: Pick<CertificateFiles, 'certFile' | 'keyFile'>,
): void {
  if (own.checkPrivateKey(key)) return
  const isLater = others.some((one) => one.checkPrivateKey(key))
  if (isLater) wrong(['--tls-cert', certFile], 'the certificate of the key must be the first in it')
  wrong(['--tls-key', keyFile], `it is not the key of the certificate ${certFile}`)
}

function dayOf(time: string): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** An option of the command line, and the file that it names. */
type FileOption = readonly [key: string, path: string]

function wrong([key, path]: FileOption, reason: string, cause?: unknown): never {
  return fail('CONFIG_INVALID', { key, value: JSON.stringify(path), reason }, cause)
}
