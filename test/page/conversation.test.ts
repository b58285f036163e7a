/** A conversation in the browser: it follows only who is at its end, moves nobody else, and is the same for everyone. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { awayFromEnd, firstSeen, still, watchUntil } from './reader.ts'
import { DESKTOP, PHONE, PageStage } from './stage.ts'

const LONG = 'A line that is long enough to fill the column of the conversation from one side to the other.\n\n'

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.openCommon()
})
afterAll(() => stage.close())

/** A session with a long answer, and its turn over. */
async function longSession(): Promise<Page> {
  stage.server.play([{ chunk: LONG, times: 60 }, { chunk: 'The end of the first.' }])
  const [page, id] = await Promise.all([stage.device(), stage.server.newSession('Say much.', { leaves: 'ended' })])
  await stage.show(page, `?session=${id}`)
  await page.getByText('The end of the first.').waitFor()
  await page.locator('.composer textarea').waitFor()
  return page
}

async function prompt(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message to the agent').fill(text)
  await page.keyboard.press('Enter')
}

const wheel = async (page: Page, by: number): Promise<void> => {
  await page.mouse.move(800, 300)
  await page.mouse.wheel(0, by)
}

/** Until the view has moved and stands: the browser tells of a wheel before it scrolls. */
async function scrollUp(page: Page, by: number): Promise<void> {
  await wheel(page, -by)
  await expect.poll(() => awayFromEnd(page)).toBeGreaterThan(300)
  await still(page)
}

test('1: opened in mid-word, it has the past, and the word goes on, each part once', async () => {
  stage.server.play([{ chunk: '{n}.', times: 40, everyMs: 40 }, { chunk: 'over' }])
  const first = await stage.device()
  await stage.newSession(first, 'Count.')
  await first.getByText('5.6.7.').waitFor()
  const second = await stage.device()
  await stage.show(second, first.url())
  const whole = `${Array.from({ length: 40 }, (_, n) => `${n + 1}.`).join('')}over`
  await Promise.all([first, second].map((page) => page.getByText(whole, { exact: true }).waitFor()))
})

test('2: the end stays in view in every frame while it streams', async () => {
  const page = await longSession()
  stage.server.play([{ chunk: 'word {n} of many, ', times: 4_000 }, { chunk: 'and that was all.' }])
  const watching = watchUntil(page, 'and that was all.')
  await prompt(page, 'Stream.')
  const sight = await watching
  expect(sight.awayFromEnd).toBeLessThanOrEqual(1)
  expect(sight.frames).toBeGreaterThan(3)
})

test('3, 6: a reader who scrolls up meanwhile stays, and sees that there is more; the pill, End and the wheel go on following', async () => {
  const page = await longSession()
  stage.server.play([{ chunk: 'word {n}, ', times: 300, everyMs: 5 }, { chunk: '\n\nthe last word.' }])
  await prompt(page, 'Stream.')
  await page.getByText('word 9,').waitFor()
  await scrollUp(page, 900)
  const sight = await watchUntil(page, 'the last word.')
  expect(sight.moved).toBeLessThanOrEqual(1)
  const pill = page.locator('.pill')
  await pill.click()
  await expect.poll(() => awayFromEnd(page)).toBeLessThanOrEqual(1)
  await pill.waitFor({ state: 'detached' })

  await scrollUp(page, 900)
  await pill.waitFor()
  await page.locator('.rows').press('End')
  await expect.poll(() => awayFromEnd(page)).toBeLessThanOrEqual(1)

  await scrollUp(page, 900)
  await pill.waitFor()
  await wheel(page, 9_000)
  await pill.waitFor({ state: 'detached' })
  await expect.poll(() => awayFromEnd(page)).toBeLessThanOrEqual(1)
})

test('4: rows above the view that grow move nothing in it', async () => {
  const output = Array.from({ length: 40 }, (_, n) => `failed in line ${n}`).join('\n')
  stage.server.play([
    { toolCall: { toolCallId: 'grows', title: 'It will grow', kind: 'execute', status: 'in_progress' } },
    { chunk: LONG, times: 60 },
    { chunk: 'Now.' },
    { sleepMs: 600 },
    {
      toolCall: {
        toolCallId: 'grows',
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: output } }],
      },
    },
    { sleepMs: 600 },
    { chunk: ' Then.' },
  ])
  const page = await stage.device()
  await stage.newSession(page, 'Grow.')
  await page.getByText('Now.').waitFor()
  await scrollUp(page, 700)
  const before = await firstSeen(page)
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  const after = await firstSeen(page)
  expect(after.key).toBe(before.key)
  expect(Math.abs(after.top - before.top)).toBeLessThanOrEqual(1)
})

test('7: sending does not move who is elsewhere', async () => {
  const page = await longSession()
  await scrollUp(page, 1_200)
  const before = await firstSeen(page)
  stage.server.play([{ chunk: 'Answered.' }])
  await prompt(page, 'More.')
  await page.locator('.pill', { hasText: /new/u }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  const after = await firstSeen(page)
  expect(after.key).toBe(before.key)
  expect(Math.abs(after.top - before.top)).toBeLessThanOrEqual(1)
})

test('9: a window of another size in mid-stream keeps the row at the top', async () => {
  const page = await longSession()
  await scrollUp(page, 1_500)
  const before = await firstSeen(page)
  for (const size of [PHONE, DESKTOP]) {
    await page.setViewportSize(size)
    await expect.poll(() => page.evaluate('innerWidth')).toBe(size.width)
    await still(page)
  }
  await expect.poll(async () => (await firstSeen(page)).key).toBe(before.key)
})

test('10: after a reload the place, the draft and what was opened are as before', async () => {
  stage.server.play([{ thought: 'Deep in thought.' }, { chunk: LONG, times: 60 }, { chunk: 'Done.' }])
  const page = await stage.device()
  await stage.newSession(page, 'Think.')
  await page.getByText('Done.').waitFor()
  await page.locator('.rows').press('Home')
  await page.getByRole('button', { name: /Thought/u }).click()
  await page.getByText('Deep in thought.').waitFor()
  await page.getByLabel('Message to the agent').fill('Half a sen')
  const before = await firstSeen(page)
  await page.reload()
  await page.getByText('Deep in thought.').waitFor()
  await expect.poll(() => page.getByLabel('Message to the agent').inputValue()).toBe('Half a sen')
  await expect.poll(async () => (await firstSeen(page)).key).toBe(before.key)
})

test('11, 12: what is prompted in one window is in the other once, with the same items in the same order', async () => {
  stage.server.play([
    { thought: 'Hm.' },
    { toolCall: { toolCallId: 't', title: 'Look', kind: 'read' } },
    { chunk: 'Both see it.' },
  ])
  const page = await stage.device()
  await stage.newSession(page)
  const other = await stage.device()
  await stage.show(other, page.url())
  await other.getByLabel('Message to the agent').waitFor()
  await prompt(page, 'Only once, please.')
  for (const one of [page, other]) await one.getByText('Both see it.').waitFor()
  const shown = (one: Page) =>
    one.locator('.row').evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset['row']))
  const same = async (): Promise<boolean> => JSON.stringify(await shown(other)) === JSON.stringify(await shown(page))
  await expect.poll(same).toBe(true)
  expect(await other.locator('.prompt').count()).toBe(1)
})

test('a long answer leaves the document small while it grows, and a reader in the middle of it where they are', async () => {
  stage.server.play([{ chunk: LONG, times: 150, everyMs: 1 }, { sleepMs: 1 }, { chunk: 'The last word.' }])
  const page = await stage.device()
  await stage.newSession(page)
  await prompt(page, 'Say much.')
  await expect.poll(() => page.locator('.row').count()).toBeGreaterThan(2)
  await scrollUp(page, 900)
  const before = await firstSeen(page)
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  expect((await firstSeen(page)).key).toBe(before.key)
  expect(Math.abs((await firstSeen(page)).top - before.top)).toBeLessThanOrEqual(1)
  await page.locator('.rows').press('End')
  await page.getByText('The last word.').waitFor()
  await still(page)
  expect(await page.locator('.answer p').count()).toBeLessThan(120)
  expect(await page.locator('.answer .after').count()).toBe(1)
})

test('lines that are written while the end is in view leave it there', async () => {
  const page = await longSession()
  stage.server.play([{ chunk: 'word {n} of many, ', times: 200, everyMs: 3 }, { chunk: 'and that was all.' }])
  await prompt(page, 'Stream.')
  const field = page.getByLabel('Message to the agent')
  await field.fill('One.\nTwo.\nThree.\n')
  await field.pressSequentially('And letters.')
  await page.getByText('and that was all.').waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await expect.poll(() => awayFromEnd(page)).toBeLessThanOrEqual(1)
  await field.fill('')
  await still(page)
  await expect.poll(() => awayFromEnd(page)).toBeLessThanOrEqual(1)
  expect(await page.locator('.pill').count()).toBe(0)
})

test('a browser that moves the view as heights change leaves the end in it; a pointer that drags and a focus above do not', async () => {
  stage.server.play([{ thought: 'Hm.' }, { chunk: LONG, times: 60 }, { chunk: 'The end.' }])
  const page = await stage.device()
  await stage.newSession(page, 'Say much.')
  await page.getByText('The end.').waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await expect.poll(() => awayFromEnd(page)).toBeLessThanOrEqual(1)
  /** In one frame the last row is higher and the view is elsewhere. */
  const grow = (height: number) =>
    page.evaluate((height) => {
      const row = [...document.querySelectorAll<HTMLElement>('.row')].at(-1)
      if (row !== undefined) row.style.paddingBottom = `${height}px`
      document.querySelector('.rows')?.scrollBy(0, -200)
    }, height)
  const pill = page.locator('.pill')
  await grow(20)
  await still(page)
  await expect.poll(() => awayFromEnd(page)).toBeLessThanOrEqual(1)
  expect(await pill.count()).toBe(0)

  await page.mouse.move(800, 300)
  await page.mouse.down()
  await grow(40)
  await pill.waitFor()
  await page.mouse.up()
  await pill.click()
  await pill.waitFor({ state: 'detached' })

  const thought = page.locator('.summary')
  await thought.evaluate((thought) =>
    thought.addEventListener('focus', () => {
      const row = [...document.querySelectorAll<HTMLElement>('.row')].at(-1)
      if (row !== undefined) row.style.paddingBottom = '60px'
    }),
  )
  await page.getByLabel('Message to the agent').focus()
  const isFocused = () => thought.evaluate((thought) => thought === document.activeElement)
  for (let pressed = 0; pressed < 9 && !(await isFocused()); pressed += 1) await page.keyboard.press('Shift+Tab')
  await pill.waitFor()
  await still(page)
  expect(await isFocused()).toBe(true)
  const [top, viewTop] = await Promise.all(
    [thought, page.locator('.rows')].map(async (one) => (await one.boundingBox())?.y ?? 0),
  )
  expect(top).toBeGreaterThanOrEqual(viewTop ?? Infinity)
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
