/** Questions of an agent in the browser: every option by its name, answered once, and never by accident. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PHONE, PageStage } from './stage.ts'

const OPTIONS = [
  { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow this', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]
const question = (title: string, more = {}) => ({
  permission: { title, toolCallId: title, kind: 'execute', options: OPTIONS, ...more },
})

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.open([], { hasProcess: true })
})
afterAll(() => stage.close())

const card = (page: Page) => page.locator('.dock .card')
const button = (page: Page, name: string) => card(page).getByRole('button', { name })

async function asked(title: string, more = {}): Promise<Page> {
  stage.server.play([question(title, more), { chunk: `After ${title}.` }])
  const page = await stage.device()
  await stage.newSession(page, 'Ask.')
  await card(page).getByText(title).waitFor()
  return page
}

test('13: asked on two devices, answered on one: on the other no button is left, and the call says how it was answered', async () => {
  const page = await asked('Run the tests')
  const other = await stage.device()
  await stage.show(other, page.url())
  await button(other, 'Always allow this').click()
  for (const one of [page, other]) {
    await one.getByText('After Run the tests.').waitFor()
    await card(one).waitFor({ state: 'detached' })
  }
  await other.getByText('Answered “Always allow this”').waitFor()
})

test('14: of several questions one is shown, with how many there are, also in the list', async () => {
  const first = await asked('The first of two sessions')
  const page = await asked('The second of two sessions')
  await page
    .locator('.list')
    .getByRole('heading', { name: /Waits for you/u })
    .waitFor()
  expect(await first.locator('.dock .card').count()).toBe(1)
  await button(first, 'Reject').click()
  await button(page, 'Reject').click()
})

test('15: an option of an unknown kind has its own name', async () => {
  const page = await asked('Odd', {
    options: [...OPTIONS, { optionId: 'later', name: 'Ask me tomorrow', kind: 'allow_once' }],
  })
  await button(page, 'Ask me tomorrow').click()
  await page.getByText('After Odd.').waitFor()
})

test('17: a kill while a question is open brings the question back, and its answer counts', async () => {
  const page = await asked('Survive')
  await stage.server.kill()
  await stage.server.listen()
  await button(page, 'Allow once').click()
  await page.getByText('After Survive.').waitFor()
})

test('18: Enter while a question appears answers nothing', async () => {
  stage.server.play([{ sleepMs: 300 }, question('No accident'), { chunk: 'After it.' }])
  const page = await stage.device()
  await stage.newSession(page, 'Ask.')
  await page.getByLabel('Message to the agent').focus()
  await page.keyboard.type('still writing')
  await card(page).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('.queue').getByText('still writing').waitFor()
  expect(await card(page).count()).toBe(1)
  await button(page, 'Reject').click()
})

test('19: the keys 1 to 9 answer the question in focus, Escape answers nothing', async () => {
  const page = await asked('By keys')
  await card(page).focus()
  await page.keyboard.press('Escape')
  await page.keyboard.press('9')
  expect(await card(page).count()).toBe(1)
  // For its first half second a question does not listen.
  await expect
    .poll(async () => {
      await page.keyboard.press('3')
      return card(page).count()
    })
    .toBe(0)
  await page.getByText('Answered “Reject”').waitFor()
})

test('20: however much is asked about, its answers are in sight on a phone', async () => {
  const [oldText, newText] = ['old', 'new'].map((word) =>
    Array.from({ length: 60 }, (_, n) => `${word} ${n}`).join('\n'),
  )
  const page = await asked('Edit', { content: [{ type: 'diff', path: '/src/a.ts', oldText, newText }] })
  await page.setViewportSize(PHONE)
  await card(page).locator('.diff').waitFor()
  const bottom = () => button(page, 'Reject').evaluate((one) => one.getBoundingClientRect().bottom)
  await expect.poll(bottom).toBeLessThan(PHONE.height)
  expect(
    await card(page)
      .locator('.diff')
      .evaluate((one) => one.getBoundingClientRect().height),
  ).toBeGreaterThan(400)
  // Not below the field where one writes, either.
  await button(page, 'Reject').click({ trial: true })
  await button(page, 'Reject').click()
})

test('20: all of a long command can be read, and what cannot be seen is marked', async () => {
  const lines = Array.from({ length: 300 }, (_, n) => `echo ${n}`)
  const page = await asked('Long', { rawInput: { command: `${lines.join('\n')}\nrm \u202etxt.exe` } })
  await card(page).getByText('echo 3', { exact: false }).first().waitFor()
  await button(page, 'Show 293 more lines').click()
  await expect.poll(() => card(page).locator('.command').innerText()).toContain('echo 299')
  expect(await card(page).locator('.unseen').innerText()).toBe('U+202E')
  await button(page, 'Reject').click()
})

test('22, 23: prompts wait in their order, one is withdrawn, and the next starts when a turn of another device is cancelled for it', async () => {
  stage.server.play([question('Hold'), { chunk: 'Went on.' }])
  const page = await stage.device()
  await stage.newSession(page, 'First.')
  await card(page).waitFor()
  for (const text of ['Second', 'Third', 'Fourth']) {
    await page.getByLabel('Message to the agent').fill(text)
    await page.keyboard.press('Enter')
    await page.locator('.queue').getByText(text).waitFor()
  }
  const queue = page.locator('.queue .text')
  // Nor does it push a phone's page sideways.
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.locator('.queue').evaluate((list) => list.scrollWidth <= innerWidth)).toBe(true)
  await page.locator('.queue li', { hasText: 'Third' }).getByRole('button', { name: 'Withdraw' }).click()
  await expect.poll(() => queue.allInnerTexts()).toEqual(['Second', 'Fourth'])
  await page.locator('.queue li', { hasText: 'Second' }).getByRole('button', { name: 'Now' }).click()
  await expect.poll(() => queue.allInnerTexts()).toEqual(['Fourth'])
  await page.locator('.prompt', { hasText: 'Second' }).waitFor()
  await page.getByLabel('Message to the agent').fill('Before the fourth')
  await page.keyboard.press('Control+Enter')
  await page.locator('.prompt', { hasText: 'Before the fourth' }).waitFor()
  await expect.poll(() => queue.allInnerTexts()).toEqual(['Fourth'])
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))

test('a device that comes later shows since when the turn runs', async () => {
  stage.server.play([question('Since when'), { chunk: 'Done.' }])
  const id = await stage.server.newSession('Ask.')
  const page = await stage.newPage()
  await page.addInitScript(() => {
    const now = Date.now.bind(Date)
    Date.now = () => now() + 600_000
  })
  await page.goto(`${stage.server.url}?session=${id}`)
  await card(page).getByText('Since when').waitFor()
  await page
    .locator('header .state-line, header')
    .filter({ hasText: /10:\d\d/u })
    .first()
    .waitFor()
})
