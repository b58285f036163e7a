/** Pages come as text from the public network only, for any host names, redirects and responses. */
import { type ServerResponse, createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Stage, openStage } from '../../../../test/fixtures/tools/stage.ts'
import { onlyPublic } from './reach.ts'

let stage: Stage
let base: string
let asked: string[] = []
const server = createServer((request, response) => {
  asked.push(request.url ?? '')
  if (request.url === '/endless') return endless(response)
  const [status, headers, body] = PAGES[request.url ?? ''] ?? [404, {}, 'gone']
  response.writeHead(status, headers).end(body)
})

const HTML = `<!doctype html><html><head><title>A &amp; B</title><script>steal()</script></head><body>
<h1>Head</h1><p>One <b>two</b>&nbsp;<a href="/next">three</a></p><ul><li>x<li>y</ul><pre>a  b\nc</pre><!-- no --><style>p{}</style></body></html>`

function endless(response: ServerResponse): void {
  const more = () => {
    while (response.write(Buffer.alloc(64 * 1024, 'x')));
  }
  more()
  response.on('drain', more)
}

/** Two Chinese characters in GBK, and what the page says of itself. */
function told(charset: string): Buffer {
  return Buffer.concat([Buffer.from(`<html><meta charset="${charset}">`), Buffer.from([0xca, 0xc0, 0xbd, 0xe7])])
}

const PAGES: Record<string, [number, Record<string, string>, string | Buffer]> = {
  '/page': [200, { 'content-type': 'text/html; charset=utf-8' }, HTML],
  '/json': [200, { 'content-type': 'application/json' }, '{"a":1}'],
  '/latin': [200, { 'content-type': 'text/plain; charset=windows-1252' }, Buffer.from('gr\u00FCn', 'latin1')],
  '/chinese': [200, { 'content-type': 'text/html' }, told('gbk')],
  '/wide': [200, { 'content-type': 'text/plain; charset=utf-16le' }, Buffer.from('世界', 'utf16le')],
  '/japanese': [200, { 'content-type': 'text/plain; charset=iso-2022-jp' }, '\u001b$BF|K\\\u001b(B'],
  '/wrong': [200, { 'content-type': 'text/plain; charset=latin1' }, Buffer.from('世界')],
  '/here': [302, { location: '/json' }, ''],
  '/loop': [302, { location: '/loop' }, ''],
  '/away': [302, { location: 'http://169.254.169.254/latest/meta-data/' }, ''],
  '/pdf': [200, { 'content-type': 'application/pdf' }, Buffer.from('%PDF-1.7\0')],
  '/huge': [200, { 'content-type': 'text/plain' }, Buffer.alloc(6 * 1024 * 1024, '世')],
  '/huge.png': [200, {}, Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(6 * 1024 * 1024)])],
  '/bomb': [200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(64e6, 'x'))],
  '/gzip': [200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, gzipSync('packed')],
  '/brotli': [200, { 'content-type': 'text/plain', 'content-encoding': 'br' }, brotliCompressSync('packed too')],
  '/no-gzip': [200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, 'not packed'],
  '/twice': [200, { 'content-type': 'text/html; charset=gbk' }, told('windows-1252')],
  '/klingon': [200, { 'content-type': 'text/html; charset=klingon' }, told('gbk')],
  '/broken': [500, { 'content-type': 'text/plain' }, 'oops'],
  '/to-file': [302, { location: 'file:///etc/passwd' }, ''],
  '/to-nothing': [302, { location: 'http://[' }, ''],
  '/to-somebody': [302, { location: '//a:b@127.0.0.1/' }, ''],
  '/there': [302, { location: '/and-back' }, ''],
  '/and-back': [307, { location: '/there' }, ''],
  '/apart': [302, { location: '/json', connection: 'close' }, ''],
}

beforeEach(async () => {
  asked = []
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  await stage?.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

describe('a page', () => {
  test('comes as text, within its host and its limits', async () => {
    stage = await openStage({ mayReach: (address) => address === '127.0.0.1' || onlyPublic(address) })
    const say = (path: string) => stage.say('fetch_url', { url: `${base}${path}` })
    expect(await say('/page')).toBe(
      `${base}/page (200)\nA & B\n\n# Head\n\nOne two three (${base}/next)\n\n- x\n- y\n\n\`\`\`\na  b\nc\n\`\`\``,
    )
    expect(await say('/json#part')).toBe(`${base}/json (200)\n\n{"a":1}`)
    expect(await say('/latin')).toContain('grün')
    expect(await say('/japanese')).toContain('日本')
    // The charset of the header wins over the one in the page, if it is known.
    for (const path of ['/chinese', '/wide', '/wrong', '/twice', '/klingon']) expect(await say(path)).toContain('世界')
    expect(await say('/here')).toContain('{"a":1}')
    expect(await say('/loop')).toContain('redirects again and again')
    expect(await say('/away')).toContain('redirects to another host. Fetch http://169.254.169.254/latest/meta-data/')
    expect(await say('/pdf')).toContain('is a PDF document')
    expect(await say('/no-gzip')).toContain('incorrect header check')
    expect(await say('/gzip')).toContain('\n\npacked')
    expect(await say('/brotli')).toContain('\n\npacked too')
    expect(await say('/broken')).toBe(`Error: ${base}/broken (500)\n\noops`)
    expect(await say('/none')).toBe(`Error: ${base}/none (404)\n\ngone`)
  })

  test('that is too long or has no end is cut, and says so', async () => {
    stage = await openStage({ mayReach: () => true })
    const say = (path: string) => stage.say('fetch_url', { url: `${base}${path}` })
    for (const path of ['/endless', '/bomb'])
      expect(await say(path)).toMatch(/ \(200\)\n\[It has more than 5,242,880 bytes; only these were read\.\]\n\nx/u)
    const huge = await say('/huge')
    expect(huge.slice(0, 120)).toContain('more than 5,242,880 bytes; only these were read.]\n\n世世世')
    expect(new Set(huge.slice(-200))).toEqual(new Set(['世']))
    expect(await say('/huge.png')).toMatch(/^Error: The picture has more than 5,242,880 bytes; at most/u)
  })

  test('that redirects is followed to public addresses only, and each step is checked', async () => {
    let may = true
    stage = await openStage({ mayReach: () => may })
    const say = (path: string) => stage.say('fetch_url', { url: `${base.replace('127.0.0.1', 'localhost')}${path}` })
    expect(await say('/there')).toContain('redirects again and again')
    for (const path of ['/to-file', '/to-nothing', '/to-somebody'])
      expect(await say(path)).toMatch(/^Error: localhost:\d+ redirects to an address that is not fetched/u)
    expect(await say('/apart')).toContain('{"a":1}')
    // The name becomes another address between two steps.
    await stage.close()
    stage = await openStage({ mayReach: () => may && !asked.includes('/apart') })
    asked = []
    expect(await say('/apart')).toContain('Error: localhost is not in the public network')
    expect(asked).toEqual(['/apart'])
    may = false
    asked = []
    expect(await say('/apart')).toContain('Nothing was sent there')
    expect(asked).toEqual([])
  })
})

describe('an address', () => {
  const HOSTS = '127.0.0.1 localhost 2130706433 0x7f.1 [::1] [::ffff:127.0.0.1] 0.0.0.0 169.254.169.254 192.168.1.1'

  test.each(HOSTS.split(' '))('with the host %s is not fetched', async (host) => {
    stage = await openStage()
    const said = await stage.say('fetch_url', { url: `${base.replace('127.0.0.1', host)}/page` })
    expect(said).toMatch(/is not in the public network.*Nothing was sent/u)
    expect(asked).toEqual([])
  })

  test('that is not http(s), or has a user name in it, is refused', async () => {
    stage = await openStage()
    for (const url of ['file:///etc/passwd', 'ftp://x.example', 'x', 'http://a:b@x.example/'])
      expect(await stage.say('fetch_url', { url })).toContain('Error: ')
    expect(await stage.preview('fetch_url', { url: 'https://x.example/a?b#c' })).toEqual({
      title: 'Fetch x.example/a',
      kind: 'fetch',
      url: 'https://x.example/a?b',
    })
    const tool = stage.registry.list().tools.find(({ name }) => name === 'fetch_url')
    expect(tool?.readOnly).toBe(false)
  })
})
