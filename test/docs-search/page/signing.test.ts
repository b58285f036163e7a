import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hashOf } from '../../../src/credentials/secret.ts'
import { Attempts } from '../../../src/credentials/rate-limit.ts'
import { type AtEnd, closeAfterEach, directoryWith, KEY, raw, serve, shared } from '../served.ts'
import { Visitor } from './visitor.ts'

closeAfterEach()

const PAGES = ['/', '/?q=alpha', '/doc/notes/a.md', '/in/notes', '/in/secrets', '/doc/secrets/b.md']
const CI = 'a-key-for-the-notes-only'

async function openNotesAndSecrets(atEnd?: AtEnd) {
  const files = { 'notes/a.md': '# Notes\n\nalpha', 'secrets/b.md': '# Secrets\n\nalpha' }
  const parent = await directoryWith(files, atEnd)
  const directories = [join(parent, 'notes'), join(parent, 'secrets')]
  const namedKeys = [{ name: 'ci', sha256: hashOf(CI), collections: ['notes'] }]
  return serve({}, { directories, namedKeys }, atEnd)
}

/** Of tests that take no key away and try few wrong ones. */
const notesAndSecrets = shared(openNotesAndSecrets)

test('who has not signed in is asked for a key on every page, and shown nothing else', async () => {
  const { server } = await openNotesAndSecrets()
  const stranger = new Visitor(server)
  for (const path of PAGES) {
    const answer = await stranger.get(path)
    expect([path, answer.status, answer.headers['www-authenticate']]).toEqual([path, 401, 'Bearer realm="parley docs"'])
    expect(answer.text).toContain('<h1>Sign in to the documents</h1>')
    expect(answer.text).not.toMatch(/alpha<|Notes|Secrets/)
  }
  const forged = new Visitor(server)
  forged.cookie = `parley-docs-${server.port}=${KEY}`
  expect((await forged.get('/')).status).toBe(401)
  expect((await raw(server, { path: `/?api_key=${KEY}`, method: 'GET', headers: {} })).status).toBe(401)
})

test('the key opens the page that was asked for; the cookie is not the key, and no script or other site gets it', async () => {
  const { server, log } = await notesAndSecrets()
  const visitor = new Visitor(server)
  const welcome = await visitor.signIn(KEY, '/?q=alpha')
  expect([welcome.status, welcome.headers.location]).toEqual([303, '/?q=alpha'])
  const [cookie = ''] = welcome.headers['set-cookie'] ?? []
  expect(cookie).toMatch(
    new RegExp(`^parley-docs-${server.port}=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
  )
  expect(cookie).not.toContain(KEY)
  await expect.poll(async () => (await visitor.get('/?q=alpha')).text).toContain('2 passages')
  expect(log.join('\n')).not.toContain(KEY)
})

test.each([{ Authorization: `Bearer ${CI}` }, { 'X-API-Key': CI }])(
  'a program shows its key in a header, and sees what the key opens, without a visit (%o)',
  async (headers) => {
    const { server } = await notesAndSecrets()
    const program = new Visitor(server, headers as Readonly<Record<string, string>>)
    const page = await program.get('/?q=alpha')
    expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined])
    await expect.poll(async () => (await program.get('/?q=alpha')).text).toContain('1 passage')
    expect((await program.get('/doc/secrets/b.md')).status).toBe(404)
  },
)

test('a wrong key in a header opens nothing, also beside a visit, and an address that tries many waits', async () => {
  const { server } = await openNotesAndSecrets()
  const wrong = new Visitor(server, { 'X-API-Key': 'wrong' })
  await wrong.signIn(KEY)
  for (let attempt = 1; attempt <= 10; attempt++) {
    const answer = await wrong.get('/')
    expect([attempt, answer.status]).toEqual([attempt, 401])
    expect(answer.text).toMatch(/role="alert"[^<]*>\s*This key opens nothing here/)
  }
  expect((await wrong.get('/')).status).toBe(429)
  expect((await new Visitor(server, { 'X-API-Key': KEY }).get('/')).status).toBe(200)
})

test('a wrong key is refused with a sentence, and after ten of them in a minute so is the right one', async () => {
  const { server } = await openNotesAndSecrets()
  const visitor = new Visitor(server)
  for (let attempt = 1; attempt <= 10; attempt++) {
    const answer = await visitor.signIn(`wrong-${attempt}`)
    expect([attempt, answer.status, visitor.cookie]).toEqual([attempt, 401, ''])
    expect(answer.text).toMatch(/role="alert"[^<]*>\s*This key opens nothing here/)
    expect(answer.text).not.toContain(`wrong-${attempt}`)
  }
  const late = await visitor.signIn(KEY)
  expect([late.status, visitor.cookie]).toEqual([429, ''])
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0)
})

test('wrong keys are forgotten after a minute; a network of addresses counts as one, and all together have a limit too', () => {
  let now = 0
  const attempts = new Attempts(() => now)
  for (let i = 0; i < 10; i++) attempts.wrong(`2001:db8:1:2::${i}`)
  expect([attempts.waitFor('2001:db8:1:2::ffff'), attempts.waitFor('2001:db8:1:3::1')]).toEqual([60, 0])
  now = 59_000
  expect(attempts.waitFor('2001:db8:1:2::1')).toBe(1)
  now = 60_000
  expect(attempts.waitFor('2001:db8:1:2::1')).toBe(0)
  for (let i = 0; i < 200; i++) attempts.wrong(`10.0.${i}.1`)
  expect(attempts.waitFor('192.0.2.1')).toBe(60)
})

test('signing out ends the visit also for who has copied its cookie', async () => {
  const { server } = await notesAndSecrets()
  const visitor = await Visitor.signedIn(server)
  const copy = new Visitor(server)
  copy.cookie = visitor.cookie
  expect((await copy.get('/')).status).toBe(200)
  const answer = await visitor.post('/sign-out')
  expect([answer.status, answer.headers.location]).toEqual([303, '/'])
  expect(answer.headers['set-cookie']).toEqual(expect.arrayContaining([expect.stringMatching(/=; .*Max-Age=0$/)]))
  expect((await copy.get('/')).status).toBe(401)
})

test('a key shows its collections, and of the others not even that they are there', async () => {
  const { server } = await notesAndSecrets()
  const visitor = await Visitor.signedIn(server, CI)
  const unknown = (await visitor.get('/doc/nothing/b.md')).text
  const secret = await visitor.get('/doc/secrets/b.md')
  expect([secret.status, secret.text]).toEqual([404, unknown.replaceAll('nothing/b.md', 'secrets/b.md')])
  expect((await visitor.get('/in/secrets')).status).toBe(404)
  expect((await visitor.get('/?q=alpha&in=secrets')).status).toBe(400)
  for (const path of ['/', '/?q=alpha', '/doc/notes/a.md?q=alpha']) {
    const answer = await visitor.get(path)
    expect([path, answer.status, /secrets/i.test(answer.text)]).toEqual([path, 200, false])
  }
})

test('a key that is taken away ends its visits, and no others', async () => {
  const { server } = await openNotesAndSecrets()
  const [visitor, other] = [await Visitor.signedIn(server, CI), await Visitor.signedIn(server)]
  await server.setKeys([])
  expect([(await visitor.get('/')).status, (await other.get('/')).status]).toEqual([401, 200])
})

test('no other page signs anybody in or out: not one of another site, of another port, or of a name that was made to lead here', async () => {
  const { server } = await notesAndSecrets()
  const foreign = [
    { Origin: 'https://evil.example' },
    { Origin: 'http://127.0.0.1:1' },
    { Origin: 'null' },
    { Origin: '' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Host: 'evil.example', Origin: 'http://evil.example' },
  ]
  const visitor = await Visitor.signedIn(server)
  for (const headers of foreign) {
    const page = new Visitor(server, headers)
    page.cookie = visitor.cookie
    expect([headers, (await page.signIn(KEY)).status]).toEqual([headers, 403])
    expect([headers, (await page.post('/sign-out')).status]).toEqual([headers, 403])
  }
  expect((await visitor.get('/')).status).toBe(200)
  expect((await new Visitor(server, { Host: 'evil.example' }).get('/')).status).toBe(403)
})

test('after signing in one stays on this server, whatever the form says', async () => {
  const { server } = await notesAndSecrets()
  const foreign = [
    '//evil.example/',
    '/\\evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '',
    '/%0d%0aX: y',
    '/\r\nX: y',
    '/\t/evil.example',
  ]
  for (const to of foreign) {
    const { status, headers } = await new Visitor(server).signIn(KEY, to)
    expect([to, status]).toEqual([to, 303])
    const address = new URL(String(headers.location), 'http://127.0.0.1/')
    expect([to, address.origin, headers['x']]).toEqual([to, 'http://127.0.0.1', undefined])
  }
})

test('what is no form is refused before it is read', async () => {
  const { server } = await notesAndSecrets()
  const headers = { Origin: `http://127.0.0.1:${server.port}`, 'Content-Type': 'application/x-www-form-urlencoded' }
  const post = async (more: object, body: string) =>
    (await raw(server, { path: '/sign-in', method: 'POST', headers: { ...headers, ...more }, body })).status
  expect(await post({}, `key=${'x'.repeat(20_000)}`)).toBe(413)
  expect(await post({ 'Content-Type': 'application/json' }, `{"key":"${KEY}"}`)).toBe(413)
})

test('over TLS the cookie never leaves it', async () => {
  const pem = (name: string) => readFile(new URL(`../../fixtures/docs-search/localhost.${name}.pem`, import.meta.url))
  const tls = { cert: await pem('cert'), key: await pem('key') }
  const { server } = await serve({ 'a.md': 'a' }, { tls })
  const where = { host: 'localhost', port: server.port, path: '/sign-in', method: 'POST', ca: tls.cert, agent: false }
  const headers = { Origin: `https://localhost:${server.port}`, 'Content-Type': 'application/x-www-form-urlencoded' }
  const cookies = await new Promise((resolve, reject) => {
    request({ ...where, headers }, (answer) => resolve(answer.resume().headers['set-cookie']))
      .on('error', reject)
      .end(`key=${KEY}&to=/`)
  })
  expect(cookies).toEqual([expect.stringMatching(/^__Host-parley-docs-\d+=.*; Path=\/; .*; Secure$/)])
})
