/** A session that is too long to be loaded: it opens at its end, and any place of it can be gone to. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { faultsOf } from '../docs-search/page/look.ts'
import { awayFromEnd, firstSeen, still } from './reader.ts'
import { PageStage } from './stage.ts'

/** Each brings an answer and a call. */
const ROUNDS = 1_500
/** Said once, in this round. */
const RARE = { round: 120, words: 'the heron stood on 一条腿 in the reeds' }

let stage: PageStage
let address: string
beforeAll(async () => {
  stage = await PageStage.openCommon()
  stage.server.play(
    Array.from({ length: ROUNDS }, (_one, n) => [
      { chunk: `Answer ${n}. ${n === RARE.round ? RARE.words : 'Nothing of note.'}` },
      { toolCall: { toolCallId: `c${n}`, title: `Call ${n}`, kind: 'read', status: 'failed' } },
    ]).flat(),
  )
  address = `?session=${await stage.server.newSession('Go through all of it.', { leaves: 'ended' })}`
})
afterAll(() => stage.close())

/** The page of the long session, and how many pages of it were asked for. */
async function opened(more = ''): Promise<{ readonly page: Page; readonly asked: readonly string[] }> {
  const page = await stage.device()
  const asked: string[] = []
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      if (String(payload).includes('"_parley/page"')) asked.push(String(payload))
    }),
  )
  await page.goto(stage.server.url + address + more)
  await page.locator('.rows .row').first().waitFor()
  return { page, asked }
}

const text = (page: Page, what: string) => page.getByText(what, { exact: true })
const inView = async (page: Page, what: string): Promise<void> => {
  await expect.poll(() => isInView(page, what)).toBe(true)
}
const isInView = async (page: Page, what: string): Promise<boolean> => {
  const [view, box] = await Promise.all([
    page.locator('.rows').boundingBox(),
    page
      .locator('.row', { hasText: what })
      .first()
      .boundingBox({ timeout: 1_000 })
      .catch(() => null),
  ])
  return view !== null && box !== null && box.y + box.height > view.y && box.y < view.y + view.height
}
const marked = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => [...(CSS.highlights.get('found') ?? [])].map((range) => (range as Range).toString()))

test('8, 19: a long session opens at its end with one page; prompts, Home, End and any entry are gone to, and the document stays small', async () => {
  const { page, asked } = await opened()
  await text(page, `Call ${ROUNDS - 1}`).waitFor()
  expect(asked).toHaveLength(1)
  await expect.poll(() => awayFromEnd(page)).toBeLessThanOrEqual(1)
  // The outline has every prompt, however little is loaded.
  await page.locator('.menu summary[aria-label=More]').click()
  await page.getByRole('button', { name: 'Prompts' }).click()
  const outline = page.getByRole('dialog', { name: 'Prompts' })
  await outline.getByRole('button', { name: 'Go through all of it.' }).waitFor()
  expect(await faultsOf(page, '.outline')).toEqual([])
  expect(asked).toHaveLength(1)
  await outline.getByRole('button', { name: 'Go through all of it.' }).click()
  await outline.waitFor({ state: 'detached' })
  await inView(page, 'Go through all of it.')
  await page.locator('.rows').press('End')
  await inView(page, `Call ${ROUNDS - 1}`)
  await page.locator('.rows').press('Home')
  await inView(page, 'Go through all of it.')
  await text(page, 'Call 0').waitFor()
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(2_500)
  await page.locator('.rows').press('End')
  await inView(page, `Call ${ROUNDS - 1}`)
  await stage.show(page, `${address}&at=1500`)
  await page.locator('.row.found').waitFor()
  // Nothing of it is new to who has just come.
  await page.getByRole('button', { name: 'To the end' }).waitFor()
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(2_500)
  await expect.poll(async () => (await page.locator('.row.found').boundingBox())?.y).toBeGreaterThan(0)
})

test('5: an older page that comes while it streams moves nothing, and is asked for once', async () => {
  const page = await stage.newPage()
  const pages = await holdingPages(page)
  await page.goto(stage.server.url + address)
  await expect.poll(() => pages.asked()).toBe(1)
  pages.release()
  await page.locator('.rows .row').first().waitFor()
  stage.server.play([{ chunk: 'more {n}, ', times: 4_000, everyMs: 30 }])
  await page.getByLabel('Message to the agent').fill('And more.')
  await page.keyboard.press('Enter')
  await page.getByText('more 3,').waitFor()
  await page.locator('.rows').press('PageUp')
  await page.locator('.pill').waitFor()
  await still(page)
  const rows = page.locator('.rows')
  await rows.evaluate((view) => (view.scrollTop = 2_000))
  await expect.poll(() => pages.asked()).toBe(2)
  await page.getByText('Loading what came before').waitFor()
  const before = await firstSeen(page)
  const top = (): Promise<number> =>
    page.locator(`[data-row="${before.key}"]`).evaluate((row) => row.getBoundingClientRect().top)
  const [was, height] = [await top(), await rows.evaluate((view) => view.scrollHeight)]
  pages.release()
  await expect.poll(() => rows.evaluate((view) => view.scrollHeight)).toBeGreaterThan(height * 1.5)
  expect(Math.abs((await top()) - was)).toBeLessThanOrEqual(1)
  await page.getByText('Loading what came before').waitFor({ state: 'detached' })
  expect(pages.asked()).toBe(2)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
})

/** The answers to requests for pages wait until the test lets them go. */
async function holdingPages(page: Page): Promise<{ asked(): number; release(): void }> {
  const held: (() => void)[] = []
  let asked = 0
  await page.routeWebSocket(/\/acp$/u, (socket) => {
    socket.connectToServer().onMessage((text) => {
      for (const line of String(text).split('\n')) {
        const isPage = line.includes('"result":{"updates":')
        asked += Number(isPage)
        if (isPage) held.push(() => socket.send(line))
        else socket.send(line)
      }
    })
  })
  return { asked: () => asked, release: () => held.splice(0).forEach((send) => send()) }
}

test('10: after a reload the reader is where they were, also far above the end', async () => {
  const { page } = await opened('&at=700')
  await page.locator('.row.found').waitFor()
  await page.locator('.rows').press('PageUp')
  await page.goto(stage.server.url + address)
  await page.getByRole('button', { name: 'To the end' }).waitFor()
  await still(page)
  const before = await firstSeen(page)
  await page.reload()
  await expect.poll(async () => (await firstSeen(page)).key).toBe(before.key)
  await page.getByRole('button', { name: 'To the end' }).waitFor()
})

test('51: a hit among thousands is on the screen with its words marked, in English and Chinese; Back returns to the search', async () => {
  const page = await stage.device()
  for (const query of ['heron', '一条腿']) {
    // The second time the other search is still there.
    await stage.show(page, `?search=${encodeURIComponent(query)}`)
    await page.locator('.hits mark').first().getByText(query, { exact: true }).waitFor()
    await page.locator('.hits a', { hasText: '·' }).first().click()
    await inView(page, RARE.words)
    await expect.poll(() => marked(page)).toEqual([query])
    expect(await page.locator('.row.found').innerText()).toContain(RARE.words)
    await page.goBack()
    await page.locator('.hits a').first().waitFor()
  }
})

test('52: a word that was said long ago is found in the session and stepped to, by keys alone', async () => {
  const { page, asked } = await opened()
  await page.locator('.rows').focus()
  await page.keyboard.press('Control+f')
  // Who types on at once writes there, though the field has yet to be loaded.
  await page.keyboard.type('note')
  await expect.poll(() => page.getByLabel('Find in this session').inputValue()).toBe('note')
  await page.getByText('200 found').waitFor()
  expect(await faultsOf(page, '.find')).toEqual([])
  await page.getByLabel('Find in this session').fill('heron')
  await page.getByText('1 found').waitFor()
  await page.keyboard.press('Enter')
  await inView(page, RARE.words)
  await page.getByText('1 of 1').waitFor()
  await expect.poll(() => marked(page)).toEqual(['heron'])
  expect(asked.length).toBeGreaterThan(1)
  await page.keyboard.press('Escape')
  await page.getByLabel('Find in this session').waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('CSS.highlights.has("found")')).toBe(false)
})

test('a call that begins in a page and ends live is one call, where it began', async () => {
  stage.server.play([
    { toolCall: { toolCallId: 'over', title: 'Over the edge', kind: 'execute', status: 'in_progress' } },
    { chunk: 'It runs. ' },
    { permission: { title: 'Go on?', toolCallId: 'asked' } },
    { toolCall: { toolCallId: 'over', status: 'failed' } },
    { chunk: 'It has ended.' },
  ])
  const first = await stage.device()
  await stage.newSession(first, 'Run it.')
  await first.locator('.dock .card').waitFor()
  const late = await stage.device()
  await stage.show(late, first.url())
  await late.locator('.dock .options button').first().click()
  for (const page of [first, late]) {
    await page.getByText('It has ended.').waitFor()
    expect(await page.locator('.call', { hasText: 'Over the edge' }).count()).toBe(1)
    expect(await page.locator('.call.failed', { hasText: 'Over the edge' }).count()).toBe(1)
  }
})

test('a session whose first page has failed is opened by Try again, and what came meanwhile is there once', async () => {
  stage.server.play([{ chunk: 'The first answer.' }])
  const first = await stage.device()
  await stage.newSession(first, 'Begin.')
  await first.getByText('The first answer.').waitFor()
  const late = await stage.newPage()
  let isFailing = true
  await late.routeWebSocket(/\/acp$/u, (socket) => {
    socket.connectToServer().onMessage((text) => {
      for (const line of String(text).split('\n')) {
        const isPage = isFailing && line.includes('"result":{"updates":')
        isFailing &&= !isPage
        const { id } = isPage ? (JSON.parse(line) as { readonly id: unknown }) : {}
        const error = { code: -32_603, message: 'The journal could not be read.' }
        socket.send(isPage ? JSON.stringify({ jsonrpc: '2.0', id, error }) : line)
      }
    })
  })
  await late.goto(first.url())
  const again = late.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  stage.server.play([{ chunk: 'The second answer.' }])
  await first.getByLabel('Message to the agent').fill('Go on.')
  await first.keyboard.press('Enter')
  await first.getByText('The second answer.').waitFor()
  await again.click()
  await text(late, 'The first answer.').waitFor()
  await text(late, 'The second answer.').waitFor()
  expect(await late.locator('.prompt', { hasText: 'Go on.' }).count()).toBe(1)
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
