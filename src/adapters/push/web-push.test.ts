/** Push messages against the example of the RFC, and against what a client could name as its endpoint. */
import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto'
import { statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { wordsIn } from '../../../test/fixtures/word-list.ts'
import { listenOnLoopback } from '../../../test/fixtures/process/loopback-server.ts'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { encrypt } from './encrypt.ts'
import { WebPush } from './web-push.ts'

const home = newDirectory()

const browser = createECDH('prime256v1')
browser.generateKeys()
const keys = { p256dh: browser.getPublicKey('base64url'), auth: randomBytes(16).toString('base64url') }
const pushing = (services: readonly string[] = [], reported: unknown[] = []) =>
  new WebPush({
    home,
    now: () => 1_000_000,
    services,
    contact: 'https://parley.example',
    report: (error) => void reported.push(error),
  })

test('the example of RFC 8291 is reproduced byte by byte', () => {
  const target = {
    endpoint: '',
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  }
  const chance = {
    salt: Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url'),
    privateKey: Buffer.from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw', 'base64url'),
  }
  expect(encrypt('When I grow up, I want to be a watermelon', target, chance).toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

const TAKEN = wordsIn(`https://fcm.googleapis.com/fcm/send/abc https://updates.push.services.mozilla.com/wpush/v2/abc
  https://web.push.apple.com/abc https://db5p.notify.windows.com/w/?token=abc`)
const REFUSED = wordsIn(`http://fcm.googleapis.com/fcm/send/abc https://fcm.googleapis.com:8443/abc
  https://user:secret@fcm.googleapis.com/abc https://fcm.googleapis.com.evil.example/abc
  https://evil-push.apple.com.example/abc https://notpush.services.mozilla.com.evil/abc https://127.0.0.1/abc
  https://169.254.169.254/latest/meta-data https://push.example/abc file:///etc/passwd nonsense`)

test.each([
  [true, TAKEN],
  [false, REFUSED],
])('an endpoint must belong to a known push service: taken %s', (isTaken, endpoints) => {
  for (const endpoint of endpoints)
    expect([endpoint, pushing().takes({ endpoint, ...keys })]).toEqual([endpoint, isTaken])
})

test('malformed keys are refused', () => {
  const endpoint = 'https://fcm.googleapis.com/fcm/send/abc'
  for (const odd of [{ p256dh: 'AAAA' }, { p256dh: randomBytes(65).toString('base64url') }, { auth: 'AAAA' }])
    expect(pushing().takes({ endpoint, ...keys, ...odd })).toBe(false)
})

test('requests are signed by keys that are stored for the user only; a configured service may be on this machine', async () => {
  const seen: { headers: Record<string, unknown>; bytes: number }[] = []
  let status = 201
  const service = createServer((incoming, outgoing) => {
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => (bytes += chunk.length))
    incoming.on('end', () => {
      seen.push({ headers: incoming.headers, bytes })
      outgoing.writeHead(status, { Location: 'https://elsewhere.example/' }).end()
    })
  })
  const origin = `http://127.0.0.1:${await listenOnLoopback(service)}`
  const message = { text: 'x'.repeat(3_000), seconds: 600, urgency: 'high', topic: 'abc' } as const
  const reported: unknown[] = []
  const push = pushing([origin], reported)
  expect(push.publicKey).toBe(pushing().publicKey)
  expect(statSync(join(home, 'push-keys.json')).mode & 0o777).toBe(0o600)
  const target = { endpoint: `${origin}/one`, ...keys }
  const results = []
  for (status of [201, 410, 404, 301, 500]) results.push(await push.send(target, message))
  expect(results).toEqual(['sent', 'gone', 'gone', 'failed', 'failed'])
  expect(reported).toHaveLength(2)
  const [{ headers, bytes } = { headers: {}, bytes: 0 }] = seen
  expect(headers).toMatchObject({ ttl: '600', urgency: 'high', topic: 'abc', 'content-encoding': 'aes128gcm' })
  expect(bytes).toBeLessThanOrEqual(4_096)
  const [, head = '', claims = '', signature = '', key = ''] =
    /^vapid t=([^.]+)\.([^.]+)\.([^,]+), k=(.+)$/u.exec(String(headers['authorization'])) ?? []
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'))
  const jwk = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, format: 'jwk' })
  const signed = [Buffer.from(`${head}.${claims}`), Buffer.from(signature, 'base64url')] as const
  expect(verify('sha256', signed[0], { key: jwk, dsaEncoding: 'ieee-p1363' }, signed[1])).toBe(true)
  const claimed = { aud: origin, exp: 1_000 + 43_200, sub: 'https://parley.example' }
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual(claimed)
})

test('a service that is not configured is never reached on this machine, whatever its host name resolves to', async () => {
  const reported: unknown[] = []
  const message = { text: '', seconds: 1, urgency: 'normal', topic: 'a' } as const
  const target = { endpoint: 'https://127.0.0.1/x', ...keys }
  expect(await pushing([], reported).send(target, message)).toBe('gone')
  expect(reported).toEqual([])
})
