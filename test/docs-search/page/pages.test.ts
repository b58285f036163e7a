import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AtEnd, closeAfterEach, directoryWith, raw, serve, shared } from '../served.ts'
import { type ReadPage, readPage } from './html.ts'
import { Visitor } from './visitor.ts'

closeAfterEach()

const SETUP = `# Setup

The session server keeps sessions.

## On Linux

Run it.

\`\`\`sh
npm ci

npm start
\`\`\`

#### Deep

| a |
|---|

A session is begun.

## 安装阵列

把磁盘阵列接上。
`

async function page(visitor: Visitor, path: string, status = 200): Promise<ReadPage> {
  const answer = await visitor.get(path)
  expect([path, answer.status]).toEqual([path, status])
  return readPage(answer.text)
}

const named = ({ elements }: ReadPage, name: string) => elements.filter((element) => element.name === name)
const links = (read: ReadPage) => named(read, 'a').map(({ attributes }) => attributes['href'] ?? '')
const ids = ({ elements }: ReadPage) => elements.flatMap(({ attributes }) => attributes['id'] ?? [])

/** A page waits a few seconds for the index, which a busy machine may need more of. */
async function indexed(visitor: Visitor): Promise<void> {
  await expect.poll(async () => (await page(visitor, '/')).text).not.toMatch(/still|for the first time/)
}

async function openLibrary(atEnd?: AtEnd) {
  const files = {
    'notes/setup.md': SETUP,
    'notes/server.ts': `export const one = 1\n${'// nothing\n'.repeat(200)}// the session ends here\n`,
    ...Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`many/m${i}.md`, `# M${i}\n\nplenty of words ${i}`])),
  }
  const parent = await directoryWith(files, atEnd)
  const directories = [join(parent, 'notes'), join(parent, 'many')]
  const { server } = await serve({}, { directories, code: true }, atEnd)
  const visitor = await Visitor.signedIn(server)
  await indexed(visitor)
  return { server, parent, visitor }
}

const library = shared(openLibrary)

test('the first page shows the collections and how much is in them; one leads to its documents', async () => {
  const { visitor } = await library()
  const start = await page(visitor, '/')
  expect(start.text).toMatch(/notes\s+2 documents\s+many\s+23 documents/)
  expect(links(start)).toContain('/in/notes')
  expect(links(await page(visitor, '/in/notes'))).toContain('/doc/notes/setup.md')
})

test('a search shows passages with the words marked, where they stand, and the way to them', async () => {
  const { visitor } = await library()
  const answer = await visitor.get('/?q=session')
  expect(answer.text).toContain('The <mark>session</mark> server keeps <mark>sessions</mark>.')
  const read = readPage(answer.text)
  expect(read.text).toMatch(/3 passages/)
  expect(links(read)).toContain('/doc/notes/setup.md?q=session&line=1#L1')
  expect(named(read, 'input').find(({ attributes }) => attributes['name'] === 'q')?.attributes['value']).toBe('session')
  const chinese = await visitor.get(`/?q=${encodeURIComponent('陣列')}`)
  expect(chinese.text).toContain('把磁盘<mark>阵列</mark>接上。')
  expect(chinese.text).toMatch(/<p[^>]* lang="zh"/)
})

test('the modes and the choice of a collection do what they say, and stay chosen', async () => {
  const { visitor } = await library()
  const count = async (path: string) => /(\d+) passages?/.exec((await page(visitor, path)).text)?.[1]
  expect(await count('/?q=session+begun')).toBe('3')
  expect(await count('/?q=session+begun&mode=all')).toBe('1')
  expect(await count('/?q=session+server&mode=phrase')).toBe('1')
  expect(await count('/?q=plenty+session&in=notes')).toBe('3')
  const chosen = await page(visitor, '/?q=session&mode=phrase&in=notes')
  const checked = named(chosen, 'input').filter(({ attributes }) => 'checked' in attributes)
  expect(checked.map(({ attributes }) => attributes['value'])).toEqual(['phrase'])
  expect(named(chosen, 'option').find(({ attributes }) => 'selected' in attributes)?.attributes['value']).toBe('notes')
})

test('pages lead to each other, and to every passage once', async () => {
  const { visitor } = await library()
  const found: string[] = []
  let path: string | undefined = '/?q=plenty'
  for (let number = 1; path !== undefined; number++) {
    const read: ReadPage = await page(visitor, path)
    expect(read.text).toContain(`Page ${number} of 3`)
    found.push(...links(read).filter((href) => href.startsWith('/doc/')))
    path = named(read, 'a').find(({ attributes }) => attributes['rel'] === 'next')?.attributes['href']
  }
  expect(new Set(found).size).toBe(23)
  expect((await page(visitor, '/?q=plenty&page=9')).text).toContain('there is nothing on this page')
})

test('where nothing is found there is advice; where nothing can be, there is a reason', async () => {
  const { visitor } = await library()
  const nothing = await page(visitor, '/?q=absent&mode=all&in=notes')
  expect(nothing.text).toContain('Nothing was found for “absent”')
  expect(links(nothing)).toEqual(expect.arrayContaining(['/?q=absent&in=notes', '/?q=absent&mode=all']))
  for (const [path, status, reason] of [
    ['/?q=...', 400, /no letter or number/],
    [`/?q=${'x'.repeat(1_001)}`, 400, /1001 characters/],
    [`/?q=${'a+b'.repeat(1)}${Array.from({ length: 80 }, (_, i) => `+w${i}`).join('')}`, 400, /words/],
    ['/?q=a&in=absent', 400, /no collection absent/],
    ['/?q=a&page=101', 400, /no more than 100 pages/],
    ['/doc/notes/absent.md', 404, /absent\.md/],
    ['/in/absent', 404, /No page has this address/],
    ['/absent', 404, /No page has this address/],
  ] as const) {
    expect([path, (await page(visitor, path, status)).text]).toEqual([path, expect.stringMatching(reason)])
  }
})

test('a document is shown with its outline, and with what was found in its place', async () => {
  const { visitor } = await library()
  const answer = await visitor.get('/doc/notes/setup.md?q=session&line=1')
  const read = readPage(answer.text)
  const wanted = ['s-setup', 's-on-linux', 's-deep', 's-安装阵列']
  expect(ids(read)).toEqual(expect.arrayContaining(wanted))
  expect(links(read)).toEqual(expect.arrayContaining(wanted.map((id) => `#${encodeURIComponent(id)}`)))
  expect(named(read, 'h3')).toHaveLength(1)
  expect(named(read, 'th')).toHaveLength(1)
  expect(answer.text).toMatch(/<pre[^>]*>npm ci\n\nnpm start<\/pre\s*>/)
  expect(links(read)).toEqual(expect.arrayContaining(['#L1', '#L15']))
  expect(ids(read)).toEqual(expect.arrayContaining(['L1', 'L15']))
  expect(named(read, 'mark')).toHaveLength(3)
  expect(new Set(ids(read)).size).toBe(ids(read).length)
})

const GUIDE = `# Guide

A **bold session**, an *italic* one, \`code session\` and ~~old~~ &amp; more.
It goes on here.

- one session
  - inner [there](https://there.example/a?b=1&c=2), [mail](mailto:me@there.example)
- [x] two, see [the setup](setup.md#on-linux), [above](#guide), [nowhere](#absent)

3. third

> a quoted session

| name | value |
|------|-------|
| session | \`1\` |

[script](javascript:alert), [data][d], [other](//there.example), [up](../../../etc/passwd), <b>html session</b>
![a picture](https://there.example/p.png)

[d]: data:text/html,x
`

test('Markdown is shown as what it means, with the found words marked in it, and its links only lead where they may', async () => {
  const { server } = await serve({ 'guide.md': GUIDE, 'setup.md': SETUP })
  const visitor = await Visitor.signedIn(server)
  await indexed(visitor)
  const address = links(await page(visitor, '/?q=guide+session&mode=best')).find((href) => href.includes('guide.md'))
  const { text } = await visitor.get(address ?? '')
  const read = readPage(text)
  for (const shown of [
    /<strong>bold <mark>session<\/mark><\/strong>/,
    /<em>italic<\/em>/,
    /<code>code <mark>session<\/mark><\/code>/,
    /<del>old<\/del> &amp; more\.\s+It goes on here\./,
    /<blockquote>\s*<p[^>]*>\s*a quoted <mark>session<\/mark>\s*<\/p>/,
    /<td>\s*<mark>session<\/mark>\s*<\/td>\s*<td>\s*<code>1<\/code>/,
    /<ol start="3">\s*<li>third\s*<\/li>/,
    /&lt;b&gt;html <mark>session<\/mark>&lt;\/b&gt;/,
  ])
    expect(text.slice(text.indexOf('<article'))).toMatch(shown)
  expect(links(read).filter((href) => /there|mailto|setup|passwd/.test(href))).toEqual([
    'https://there.example/a?b=1&c=2',
    'mailto:me@there.example',
    expect.stringMatching(/^\/doc\/[^/]+\/setup\.md.*#s-on-linux$/),
    expect.stringMatching(/^\/doc\/[^/]+\/etc\/passwd/),
    'https://there.example/p.png',
  ])
  expect(links(read)).toContain('#s-guide')
  expect(text).not.toMatch(/href="(?:javascript|data):/)
  isOurs(read)
})

test('an excerpt is shown as what its Markdown means, its heading apart from its text', async () => {
  const { server } = await serve({ 'guide.md': GUIDE })
  const visitor = await Visitor.signedIn(server)
  await indexed(visitor)
  const { text } = await visitor.get('/?q=guide+session')
  expect(text).toMatch(/<p class="head">\s*<b><mark>Guide<\/mark><\/b>\s*<\/p>/)
  expect(text).toMatch(/<strong>bold <mark>session<\/mark><\/strong>/)
  expect(text).not.toContain('**')
  expect(text).not.toContain('there.example/p.png')
})

test('in code too a link leads to the very passage', async () => {
  const { visitor } = await library()
  const { text } = await visitor.get('/doc/notes/server.ts?q=session')
  const line = /href="#L(\d+)"/.exec(text)?.[1]
  const before = text.slice(text.indexOf('<pre'), text.indexOf(`id="L${line}"`))
  expect(before.split('\n')).toHaveLength(Number(line))
})

test('a long document is shown in parts, and every link leads into the right one', async () => {
  const chapters = Array.from({ length: 40 }, (_, i) => `## Chapter ${i}\n\n${'word '.repeat(900)}\n\nquinoa ${i}\n`)
  const { server } = await serve({ 'book.md': `# Book\n\n${chapters.join('\n')}` }, {})
  const visitor = await Visitor.signedIn(server)
  await indexed(visitor)
  const found = links(await page(visitor, '/?q=quinoa+39&mode=all'))
  const address = found.find((href) => href.startsWith('/doc/')) ?? ''
  const [path = '', anchor = ''] = address.split('#')
  const last = await page(visitor, path)
  expect(ids(last)).toContain(anchor)
  expect(last.text).toMatch(/Part 4 of 4/)
  const outline = links(last).filter((href) => /#s-chapter-\d+$/.test(href))
  expect(outline).toHaveLength(40)
  for (const href of [outline[0], outline[20], outline[39]].map(String)) {
    const [to = '', id = ''] = href.split('#')
    expect(ids(await page(visitor, to === '' ? path : to))).toContain(id)
  }
  const parts = await Promise.all([1, 2, 3, 4].map((part) => page(visitor, `${path.split('?')[0] ?? ''}?part=${part}`)))
  const told = parts.flatMap(({ text }) => [...text.matchAll(/quinoa (\d+)/g)].map(([, number]) => Number(number)))
  expect(told).toEqual(Array.from({ length: 40 }, (_, i) => i))
})

test('a collection whose directory is gone is named, and a search in it fails instead of finding nothing', async () => {
  const { visitor, parent } = await openLibrary()
  await page(visitor, '/?q=session')
  await rename(join(parent, 'notes'), join(parent, 'away'))
  await expect.poll(async () => (await visitor.get('/')).text).toMatch(/notes<\/bdi\s*>\s+is gone/)
  expect((await page(visitor, '/?q=session&in=notes', 503)).text).toMatch(/notes/)
})

test('every answer forbids whatever is not ours: no script in it, no frame around it, no copy of it', async () => {
  const { server, visitor } = await library()
  const style = /href="(\/page\/[^"]+\.css)"/.exec((await visitor.get('/')).text)?.[1] ?? ''
  const script = /src="(\/page\/[^"]+\.js)"/.exec((await visitor.get('/')).text)?.[1] ?? ''
  const stranger = new Visitor(server)
  for (const [who, path] of [
    [visitor, '/'],
    [visitor, '/?q=...'],
    [visitor, '/absent'],
    [stranger, '/'],
    [stranger, style],
    [stranger, script],
  ] as const) {
    const { headers } = await who.get(path)
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self';/)
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/)
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' })
    expect(headers['cache-control']).toBe(
      path.startsWith('/page/') ? 'public, max-age=31536000, immutable' : 'no-store',
    )
  }
})

test('what programs ask for is answered as before', async () => {
  const { server } = await library()
  const asked = (path: string, method: string) =>
    raw(server, { path, method, headers: { 'Content-Type': 'application/json' } })
  for (const [path, method] of [
    ['/', 'POST'],
    ['/absent', 'GET'],
    ['/.well-known/oauth-protected-resource', 'GET'],
    ['/', 'DELETE'],
  ] as const) {
    const answer = await asked(path, method)
    expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 404, 'application/json'])
  }
})

const NASTY = fc
  .array(
    fc.constantFrom(
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '"',
      "'",
      '" onfocus="alert(1)',
      '</p>',
      '</pre>',
      '<!--',
      ']]>',
      '&amp;',
      '&#x3c;',
      '&',
      '\u202e',
      '`',
      '${x}',
      'javascript:',
      'alpha',
      '阵列',
      '<svg/onload=alert(1)>',
      '\u0001',
      '[alpha](javascript:alert(1))',
      '[alpha](&#106;avascript:alert(1))',
      '[alpha][r]\n\n[r]: data:text/html,<script>alert(1)</script>',
      '<javascript:alert(1)>',
      '![alpha](https://there.example/x.png)',
      '<https://there.example/"onfocus="alert(1)>',
      '[alpha](https://there.example/"><img)',
      '[alpha](//there.example)',
      '> - 1. | **',
      '| alpha | <b> |\n|---|---|',
      '</title>',
      '# ',
      '\n\n',
      '```',
      '\n',
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(' '))
const FILE = NASTY.map((text) => `${text.replaceAll(/[/\0\n]/g, '-').slice(0, 40)}.md`)

const KNOWN = new Set(
  'html head meta title link script body a header div img form button search label input fieldset legend select option main footer p h1 h2 h3 h4 h5 h6 ul ol li article bdi time mark nav span details summary pre b br kbd code em strong del blockquote table thead tbody tr th td hr'.split(
    ' ',
  ),
)
const ATTRIBUTES = new Set(
  'lang charset name content rel href type src defer class id tabindex alt width height action method for value maxlength placeholder autocomplete spellcheck enterkeyhint dir autofocus checked selected aria-label aria-describedby aria-invalid required autocapitalize datetime role open start'.split(
    ' ',
  ),
)

/** Nothing is in the page that we did not put there. */
function isOurs({ elements }: ReadPage): void {
  for (const { name, attributes } of elements) {
    expect(KNOWN).toContain(name)
    for (const attribute of Object.keys(attributes)) expect(ATTRIBUTES).toContain(attribute)
    expect(attributes['href'] ?? '/').toMatch(/^(?:\/(?!\/)|#|https?:\/\/|mailto:)/)
    expect(attributes['src'] ?? '/page/').toMatch(/^\/page\//)
  }
  expect(elements.filter(({ name }) => name === 'script')).toHaveLength(1)
  expect(elements.filter(({ name }) => name === 'img').length).toBeLessThanOrEqual(1)
}

test('names, texts and questions are text and nothing else, whatever they say', async () => {
  const samples = fc.sample(fc.tuple(FILE, NASTY, NASTY), { seed: 11, numRuns: 40 })
  const files = Object.fromEntries(
    samples.map(([file, title, text], i) => [`${i} ${file}`, `# alpha ${title}\n\n${text} alpha\n`]),
  )
  const { server } = await serve(files)
  const visitor = await Visitor.signedIn(server)
  await indexed(visitor)
  const addresses = new Set<string>()
  for (let path: string | undefined = '/?q=alpha'; path !== undefined;) {
    const read: ReadPage = await page(visitor, path)
    isOurs(read)
    for (const href of links(read)) if (href.startsWith('/doc/')) addresses.add(href.split('#')[0] ?? '')
    path = named(read, 'a').find(({ attributes }) => attributes['rel'] === 'next')?.attributes['href']
  }
  expect(addresses.size).toBeGreaterThanOrEqual(40)
  for (const address of addresses) isOurs(await page(visitor, address))
  for (const [, query, other] of samples) {
    const params = new URLSearchParams({ q: query, in: other, mode: query, page: other, line: query })
    for (const path of [
      `/?${params}`,
      `/doc/x/${encodeURIComponent(query)}?${params}`,
      `/in/${encodeURIComponent(other)}`,
    ]) {
      isOurs(readPage((await visitor.get(path)).text))
    }
    isOurs(readPage((await new Visitor(server).get(`/?${params}`)).text))
  }
})
