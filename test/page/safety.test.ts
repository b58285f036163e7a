/** What the page loads, asks for, shows and hides, and what it is for who uses no mouse. */
import { homedir } from 'node:os'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultsOf } from '../docs-search/page/look.ts'
import { HOSTILE, chance, mutated } from './hostile-corpus.ts'
import { PHONE, PageStage } from './stage.ts'

const dist = fileURLToPath(new URL('../../dist/web', import.meta.url))
const upTo = chance(20_261_124)
/** Their beginnings, since a message of more than 200 KB is cut. */
const MIXED = Array.from({ length: 500 }, () => mutated(upTo).slice(0, 250))

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.open()
})
afterAll(() => stage.close())

const gzipped = (name: string): number => {
  const path = readdirSync(dist, { recursive: true, encoding: 'utf8' }).find((one) => one.endsWith(`${name}.gz`))
  return path === undefined ? Number.NaN : readFileSync(join(dist, path)).length
}

/** The gzipped scripts and styles that pages have loaded since `requested` was cleared. */
const loaded = (): ReadonlyMap<string, number> =>
  new Map(
    [...stage.requested]
      .filter((one) => /\.(?:js|css)$/u.test(one))
      .map((one) => one.split('/').slice(-2).join('/'))
      .map((name) => [name, gzipped(name)]),
  )

const sum = (sizes: readonly number[]): number => sizes.reduce((all, one) => all + one, 0)

describe('the files', () => {
  test('of the first load are at most 55 KB gzipped, the worker and the lazy parts are small', async () => {
    const page = await stage.stranger()
    stage.requested.clear()
    await page.goto(stage.server.url)
    await page.getByRole('heading', { name: 'Connect this device' }).waitFor()
    const sizes = [...loaded().values()]
    expect(sizes.length).toBeGreaterThan(1)
    expect(sum(sizes)).toBeLessThanOrEqual(55 * 1024)
    expect(gzipped('highlight.js')).toBeLessThanOrEqual(45 * 1024)
    expect(gzipped('diff-view.js')).toBeLessThanOrEqual(25 * 1024)
  })

  test('come with the headers that hold the page together, compressed, and those with a hash for ever', async () => {
    const shell = await fetch(stage.server.url)
    const csp = shell.headers.get('content-security-policy') ?? ''
    expect(csp).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; " +
        "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; " +
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types parley",
    )
    expect(shell.headers.get('referrer-policy')).toBe('no-referrer')
    expect(shell.headers.get('x-content-type-options')).toBe('nosniff')
    expect(shell.headers.get('cache-control')).toBe('no-cache')
    const html = await shell.text()
    expect(html).not.toMatch(/ (?:on\w+|style)=|<script>|<style|(?:src|href)="\//u)
    const script = /src="\.\/(a\/[^"]+)"/u.exec(html)?.[1] ?? ''
    const file = await fetch(stage.server.url + script, { headers: { 'Accept-Encoding': 'br' } })
    expect(file.headers.get('cache-control')).toContain('immutable')
    expect(file.headers.get('content-encoding')).toBe('br')
    expect((await fetch(`${stage.server.url}a/..%2f..%2fpackage.json`)).status).toBe(404)
  })
})

// The first that makes sessions: before there is only the home directory to suggest.
test('sessions that come into the list change no directory that is being written or was suggested', async () => {
  const page = await stage.device()
  const directory = page.getByLabel('Directory on the server')
  await page.goto(`${stage.server.url}?new`)
  await expect.poll(() => directory.inputValue()).toBe(homedir())
  await directory.fill('')
  await stage.server.newSession()
  await page.locator('.list li').waitFor()
  await page.keyboard.insertText('/srv')
  expect(await directory.inputValue()).toBe('/srv')

  await page.reload()
  await expect.poll(() => directory.inputValue()).toBe(stage.server.work)
  await stage.server.newSession('', { directory: stage.server.home })
  await expect.poll(() => page.locator('.list li').count()).toBe(2)
  expect(await directory.inputValue()).toBe(stage.server.work)
})

test('47, 48, 49: what an agent says runs nothing, loads nothing, and says where it leads', async () => {
  stage.server.play([
    { chunk: HOSTILE.join('\n\n') },
    ...HOSTILE.map((text, n) => ({
      toolCall: {
        toolCallId: `h${n}`,
        title: text,
        kind: 'edit',
        status: 'failed',
        locations: [{ path: `/${text}` }],
        content: [
          { type: 'diff', path: `/${text}`, oldText: text, newText: `${text}.` },
          { type: 'content', content: { type: 'text', text } },
        ],
      },
    })),
    { plan: HOSTILE.map((content) => ({ content, status: 'pending' })) },
    { title: HOSTILE.join(' ') },
    { toolCall: { toolCallId: 'h', title: '<b onclick=x()>\u202eevil', kind: 'read' } },
    { chunk: `${MIXED.join('\n\n')}\n\nThe end.` },
  ])
  const page = await stage.device()
  stage.requested.clear()
  await stage.newSession(page, 'Be hostile.')
  await page.getByText('The end.').waitFor()
  expect(await page.evaluate('window.evil')).toBeUndefined()
  expect([...stage.requested].filter((one) => !one.startsWith(stage.server.url))).toEqual([])
  expect(await page.locator('.row').locator('img, script, iframe, style, svg:not(.icon)').count()).toBe(0)
  expect(
    await page
      .locator('a:not([href^="http"]):not([href^="mailto:"]):not([href^="./"]):not([href^="?"]):not(.skip)')
      .count(),
  ).toBe(0)
  expect(
    await page.locator('base, meta[http-equiv], object, embed, video, math, form:not(.composer form)').count(),
  ).toBe(0)
  expect(await page.locator('[id=main]').count()).toBe(1)
  await page.getByText('(evil.example)').first().waitFor()
  await page.locator('.call .unseen').getByText('U+202E').first().waitFor()
})

test('47: a browser that keeps nothing for pages works all the same', async () => {
  stage.server.play([{ chunk: 'Heard.' }])
  const page = await stage.newPage()
  await page.addInitScript(() => {
    for (const name of ['localStorage', 'sessionStorage', 'caches'])
      Object.defineProperty(globalThis, name, {
        get: () => {
          throw new DOMException('denied', 'SecurityError')
        },
      })
  })
  await stage.newSession(page, 'Say it.')
  await page.getByText('Heard.').waitFor()
  await page.getByLabel('Message to the agent').fill('Again.')
  await page.getByLabel('Message to the agent').press('Enter')
  await expect.poll(() => page.getByText('Heard.').count()).toBe(2)
})

test('all that a page with a session has loaded is at most 90 KB gzipped, in parts of at most 25 KB', async () => {
  stage.server.play([{ chunk: 'Hello.' }])
  const page = await stage.newPage()
  stage.requested.clear()
  await stage.newSession(page, 'Greet me.')
  await page.getByText('Hello.').waitFor()
  const parts = [...loaded()]
  expect(parts.length).toBeGreaterThan(5)
  expect(sum(parts.map(([, bytes]) => bytes))).toBeLessThanOrEqual(90 * 1024)
  expect(parts.filter(([, bytes]) => !(bytes <= 25 * 1024))).toEqual([])
})

test('36: Enter that ends a word of an input method sends nothing', async () => {
  stage.server.play([{ chunk: 'Got it.' }])
  const page = await stage.device()
  await stage.newSession(page)
  const write = page.getByLabel('Message to the agent')
  await write.fill('你好')
  for (const init of ['{ isComposing: true }', '{ keyCode: 229 }'])
    await write.evaluate(
      (element, init) =>
        element.dispatchEvent(
          new KeyboardEvent('keydown', {
            key: 'Enter',
            bubbles: true,
            ...(init.includes('229') ? { keyCode: 229 } : { isComposing: true }),
          }),
        ),
      init,
    )
  expect(await write.inputValue()).toBe('你好')
  await write.press('Enter')
  await page.getByText('Got it.').waitFor()
  expect(await page.locator('.prompt').count()).toBe(1)
})

test('37: on a phone Enter breaks the line, and a button sends', async () => {
  stage.server.play([{ chunk: 'Got it.' }])
  const page = await stage.newDevice({ viewport: PHONE, hasTouch: true, isMobile: true })
  await stage.newSession(page)
  const write = page.getByLabel('Message to the agent')
  await write.fill('one')
  await write.press('Enter')
  await write.pressSequentially('two')
  expect(await write.inputValue()).toBe('one\ntwo')
  await page.getByRole('button', { name: 'Send' }).tap()
  await page.getByText('Got it.').waitFor()
})

test('57, 58: a double click makes one session; a directory that is not there is a sentence at the field', async () => {
  stage.server.play([{ chunk: 'Here.' }])
  const page = await stage.device()
  await stage.show(page, '?new')
  // Who came by the key `c` writes at once.
  await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('first-prompt')
  // The home directory of the server's user, or where a session of this file has worked.
  await expect.poll(() => page.getByLabel('Directory on the server').inputValue()).toMatch(/^\//u)
  await page.getByLabel('Directory on the server').fill('/no/such/place')
  await page.getByRole('button', { name: 'Start session' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByLabel('Directory on the server').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Directory on the server').fill(stage.server.work)
  await page.getByLabel('First prompt').fill('Only one session, please.')
  await page.getByRole('button', { name: 'Start session' }).dblclick()
  await page.locator('.prompt', { hasText: 'Only one session, please.' }).waitFor()
  await expect.poll(() => page.locator('.list li', { hasText: 'Only one session' }).count()).toBe(1)
})

test('a new session has the agent that is chosen for it', async () => {
  const page = await stage.device()
  await stage.show(page, '?new')
  await page.getByLabel('Directory on the server').fill(stage.server.work)
  await page.getByLabel('Agent').selectOption('Offline guide, without a model')
  await page.getByRole('button', { name: 'Start session' }).click()
  await page.locator('.session-head .meta', { hasText: 'guide' }).waitFor()
})

test('61: the code of a link is gone from the address and the history, and a wrong one is a sentence', async () => {
  const page = await stage.stranger()
  const before = Number(await page.evaluate('history.length'))
  await page.goto(`${stage.server.url}#pair=${'x'.repeat(22)}`)
  await page.getByRole('alert').waitFor()
  expect(page.url()).toBe(stage.server.url)
  expect([...stage.requested].filter((one) => one.includes('xxxx'))).toEqual([])
  // It has been elsewhere before.
  expect(await page.evaluate('history.length')).toBeLessThanOrEqual(before + 1)
})

const SHOWN = [
  { title: 'Show all' },
  { thought: 'Hm.' },
  { chunk: '# Zanzibar\n\nText with `code`.\n\n```js\nlet x = 1\n```\n\n|a|b|\n|-|-|\n|1|2|\n' },
  {
    toolCall: {
      toolCallId: 'f',
      title: 'Broken',
      kind: 'execute',
      status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text: 'no' } }],
    },
  },
  { plan: [{ content: 'Look', status: 'completed' }, 'Mend'] },
  { usage: { used: 96_000, size: 100_000 } },
  { permission: { title: 'May I?', toolCallId: 'p', rawInput: { command: 'ls' } } },
]

/** What of the screens is wrong, with `wrongIn` for each. */
async function screens(page: Page, wrongIn: (page: Page) => Promise<readonly string[]>): Promise<readonly string[]> {
  const faults: string[] = []
  const look = async (name: string): Promise<void> => {
    faults.push(...(await wrongIn(page)).map((one) => `${name}: ${one}`))
  }
  for (const query of ['', '?new']) {
    await stage.show(page, query)
    await page.locator('main, .list').locator('visible=true').first().waitFor()
    await look(query)
  }
  await stage.show(page, '?access')
  await page.locator('.adding summary').first().click()
  await page.locator('.adding button').first().click()
  await page.locator('.qr').waitFor()
  await look('access')
  stage.server.play(SHOWN)
  await stage.newSession(page, 'Show all')
  await page.locator('.dock .card').waitFor()
  await page.locator('.composer textarea').fill('A draft')
  await look('session')
  await page.locator('.session-head .menu summary').click()
  await look('menu')
  await page.locator('.session-head .menu .bad').click()
  await page.locator('.toast').waitFor()
  await look('toast')
  await page.locator('.toast button').click()
  await page.locator('.toast').waitFor({ state: 'detached' })
  await stage.show(page, '?search=zanzibar')
  await page.locator('.hits a').first().waitFor()
  await look('search')
  return faults
}

test('72: no screen has a fault for who cannot see it well, and none is wider than its window', async () => {
  expect(await screens(await stage.device(), faultsOf)).toEqual([])
})

test('72, 74: nor has one in Chinese, dark, at a zoom of 400 %, and no English is left in it', async () => {
  const page = await stage.device({ viewport: { width: 320, height: 640 }, colorScheme: 'dark' })
  await page.goto(stage.server.url)
  await page.getByRole('button', { name: '中文' }).click()
  await page.getByRole('button', { name: 'English' }).waitFor()
  const wrong = async (page: Page) => [...(await faultsOf(page)), ...(await englishIn(page))]
  expect(await screens(page, wrong)).toEqual([])
})

/** What has no meaning in another language, or was said by somebody. */
const SAID = 'body [lang=en], noscript, code, pre, .hits, .list .title, .list .path, option[value*="-"]'
const NAMES = new Set([
  'Parley',
  'Allow',
  'Reject',
  'Text',
  'Ctrl',
  'Enter',
  'Bearer',
  'zanzibar',
  'draft',
  'admin',
  'program',
  'script',
])

/** Texts of the page with words in Latin letters, besides names and addresses. */
async function englishIn(page: Page): Promise<readonly string[]> {
  const texts = await page.locator('body').evaluate((body, said) => {
    const texts: string[] = []
    for (const element of body.querySelectorAll('*')) {
      if (element.closest(said) !== null) continue
      for (const node of element.childNodes) if (node instanceof Text) texts.push(node.data)
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) texts.push(element.getAttribute(name) ?? '')
    }
    return texts
  }, SAID)
  const known = new Set([...NAMES, ...(JSON.stringify(SHOWN).match(/[A-Za-z]{2,}/gu) ?? [])])
  const wordsOf = (text: string) => text.replaceAll(/\S*\/\S*/gu, '').match(/[A-Za-z]{2,}/gu) ?? []
  return texts.filter((text) => wordsOf(text).some((word) => !known.has(word)))
}

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
