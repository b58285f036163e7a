/** Certificates that `openssl` makes here, and files that are none: each is refused in a sentence that names the file. */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { changesOf, readTls, remarkOn } from './certificate-files.ts'

const directory = newDirectory()
const at = (name: string): string => join(directory, name)
const openssl = (...args: readonly string[]): void => {
  execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' })
}
const content = (name: string): string => readFileSync(at(name), 'latin1')

beforeAll(() => {
  for (const name of ['own', 'other']) {
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    openssl('req', '-x509', ...kind, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`)
  }
  openssl('ec', '-aes256', '-passout', 'pass:secret', '-in', 'own.key', '-out', 'passphrase.key')
  openssl('pkcs8', '-topk8', '-passout', 'pass:secret', '-in', 'own.key', '-out', 'passphrase8.key')
  openssl('x509', '-outform', 'der', '-in', 'own.pem', '-out', 'own.der')
  writeFileSync(at('chain.pem'), `${content('own.pem')}${content('other.pem')}`)
  writeFileSync(at('reversed.pem'), `${content('other.pem')}${content('own.pem')}`)
  writeFileSync(at('cut.pem'), content('own.pem').slice(0, 200))
  writeFileSync(at('cut-chain.pem'), `${content('own.pem')}${content('other.pem').slice(0, 200)}`)
  writeFileSync(at('cut.key'), content('own.key').slice(0, 100))
  writeFileSync(at('both.pem'), `${content('own.key')}${content('own.pem')}`)
  writeFileSync(at('windows.pem'), `\u00ef\u00bb\u00bf${content('own.pem').replaceAll('\n', '\r\n')}`, 'latin1')
  writeFileSync(at('empty.pem'), '')
})

const read = (cert: string, key: string, clientCa?: string) =>
  readTls({ certFile: at(cert), keyFile: at(key), clientCaFile: clientCa && at(clientCa) })

test.each([
  ['own.pem', 'own.key'],
  ['chain.pem', 'own.key'],
  ['both.pem', 'both.pem'],
  ['windows.pem', 'own.key'],
])('%s with %s is used as it is', (cert, key) => {
  expect(read(cert, key, 'chain.pem')).toEqual({
    cert: readFileSync(at(cert)),
    key: readFileSync(at(key)),
    clientCa: readFileSync(at('chain.pem')),
  })
})

test.each([
  ['none.pem', 'own.key', /--tls-cert cannot be ".*none\.pem": ENOENT/u],
  ['own.pem', 'none.key', /--tls-key cannot be ".*none\.key": ENOENT/u],
  ['own.pem', 'other.key', /--tls-key .*other\.key": it is not the key of the certificate .*own\.pem\.$/u],
  ['own.pem', 'passphrase.key', /--tls-key .*protected by a passphrase; .*openssl pkey/u],
  ['own.pem', 'passphrase8.key', /--tls-key .*protected by a passphrase/u],
  ['own.key', 'own.pem', /--tls-cert .*it is a private key, not a certificate\.$/u],
  ['own.pem', 'own.pem', /--tls-key .*it is a certificate, not a private key\.$/u],
  ['empty.pem', 'own.key', /--tls-cert .*no certificate in PEM form\.$/u],
  ['own.der', 'own.key', /--tls-cert .*no certificate in PEM form\.$/u],
  ['own.pem', 'empty.pem', /--tls-key .*no private key in PEM form\.$/u],
  ['cut.pem', 'own.key', /--tls-cert .*certificate 1 of 1 in it is damaged/u],
  ['cut-chain.pem', 'own.key', /--tls-cert .*certificate 2 of 2 in it is damaged/u],
  ['own.pem', 'cut.key', /--tls-key .*the private key in it is damaged/u],
  ['reversed.pem', 'own.key', /--tls-cert .*the certificate of the key must be the first/u],
])('%s with %s is refused', (cert, key, sentence) => expect(() => read(cert, key)).toThrow(sentence))

test.each(['empty.pem', 'own.key', 'cut.pem'])('%s is no authority of clients', (file) =>
  expect(() => read('own.pem', 'own.key', file)).toThrow(/--client-ca cannot be/u),
)

test('a certificate before its first day and after its last is remarked on, and used', () => {
  const files = { certFile: at('own.pem'), keyFile: at('own.key') }
  const remarkAt = (days: number) => remarkOn(files, readTls(files), Date.now() + days * 24 * 60 * 60_000)
  expect(remarkAt(0)).toBeUndefined()
  expect(remarkAt(3)).toMatch(/own\.pem ended on \d{4}-\d\d-\d\d, so clients refuse it/u)
  expect(remarkAt(-1)).toMatch(/own\.pem begins on \d{4}-\d\d-\d\d/u)
})

test('a change of any of the files is noticed, and so is a file that is missing', () => {
  const files = { certFile: at('passing.pem'), keyFile: at('own.key') }
  writeFileSync(files.certFile, content('both.pem'))
  const before = changesOf(files)
  expect(changesOf(files)).toBe(before)
  rmSync(files.certFile)
  expect(changesOf(files)).not.toBe(before)
})
