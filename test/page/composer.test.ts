/** Where one writes, in the browser: what goes with a prompt, what is suggested, and how the agent stands. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Step } from './server.ts'
import { DESKTOP, PageStage } from './stage.ts'

const AGENT = {
  agent: {
    promptCapabilities: { image: true, embeddedContext: true },
    modes: {
      currentModeId: 'ask',
      availableModes: [
        { id: 'ask', name: 'Ask' },
        { id: 'allow-all', name: 'Allow all' },
      ],
    },
  },
}
const COMMANDS = {
  commands: [
    { name: 'review', description: 'Looks at it' },
    { name: 'preview', description: 'x' },
  ],
}

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.open([AGENT])
})
afterAll(() => stage.close())

const field = (page: Page) => page.getByLabel('Message to the agent')
const options = (page: Page) => page.getByRole('listbox').getByRole('option')

/** A session whose agent has said something, with the steps of its next turn. */
async function session(steps: readonly Step[] = [], next: readonly Step[] = [{ chunk: 'Got it.' }]): Promise<Page> {
  stage.server.play([AGENT, ...steps, { chunk: 'Ready.' }])
  const page = await stage.device()
  await stage.newSession(page, 'Begin.')
  await page.getByText('Ready.').waitFor()
  stage.server.play([AGENT, ...next])
  return page
}

/** As if somebody had chosen these files. */
function choose(page: Page, files: readonly { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> {
  return page.locator('input[type=file]').setInputFiles([...files])
}

/** A picture of this size, as the browser itself encodes it. */
async function png(page: Page, width: number, height: number): Promise<Buffer> {
  const bytes = await page.evaluate(
    async ([width = 1, height = 1]) => {
      const canvas = new OffscreenCanvas(width, height)
      canvas.getContext('2d')?.fillRect(0, 0, width / 2, height)
      return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())]
    },
    [width, height],
  )
  return Buffer.from(bytes)
}

test('38: a picture is made smaller, a text goes whole, an SVG, a large and a strange file are refused with a sentence', async () => {
  const page = await session()
  await choose(page, [
    { name: 'wide.png', mimeType: 'image/png', buffer: await png(page, 4_000, 1_000) },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The notes.') },
    { name: 'bad.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg onload="x()"/>') },
    { name: 'long.txt', mimeType: 'text/plain', buffer: Buffer.alloc(300 * 1024, 'x') },
    { name: 'program.bin', mimeType: '', buffer: Buffer.from([0, 1, 2, 255]) },
  ])
  const attached = page.getByRole('list', { name: 'Attached' }).getByRole('listitem')
  await expect.poll(() => attached.allInnerTexts()).toEqual(['wide.png', 'notes.txt'])
  for (const refused of ['bad.svg is neither', 'long.txt is larger than 256 KB', 'program.bin is neither'])
    await page.getByRole('alert').getByText(refused).waitFor()
  await field(page).fill('Look.')
  await field(page).press('Enter')
  await page.getByText('Got it.').waitFor()
  const prompt = page.locator('.prompt', { hasText: 'Look.' })
  await prompt.getByText('The notes.').waitFor()
  const size = await prompt.locator('img.bitmap').evaluate(async (image: HTMLImageElement) => {
    await image.decode()
    return [image.naturalWidth, image.naturalHeight]
  })
  expect(size).toEqual([2_000, 500])
  expect(await attached.count()).toBe(0)

  // Another device sees the same.
  const other = await stage.device()
  await stage.show(other, page.url())
  await other.locator('.prompt', { hasText: 'Look.' }).locator('img.bitmap').waitFor()
})

test('38: a picture that is pasted or dropped is attached, and can be removed', async () => {
  const page = await session()
  const give = (event: 'paste' | 'drop') =>
    field(page).evaluate((element, event) => {
      const data = new DataTransfer()
      data.items.add(new File(['of the clipboard'], `${event}.txt`, { type: 'text/plain' }))
      const init = { bubbles: true, cancelable: true }
      element.dispatchEvent(
        event === 'paste'
          ? new ClipboardEvent('paste', { ...init, clipboardData: data })
          : new DragEvent('drop', { ...init, dataTransfer: data }),
      )
    }, event)
  await give('paste')
  await page.getByRole('button', { name: 'Remove paste.txt' }).waitFor()
  await give('drop')
  await page.getByRole('button', { name: 'Remove drop.txt' }).waitFor()
  await page.getByRole('button', { name: 'Remove paste.txt' }).click()
  await field(page).press('Enter')
  await page.locator('.prompt', { hasText: 'drop.txt' }).waitFor()
})

test('39: what is too large together stays where it was written, with its attachments and a sentence', async () => {
  const page = await session()
  const noise = Buffer.alloc(200 * 1024, 'all work and no play ')
  const names = Array.from({ length: 26 }, (_, n) => `part-${n}.txt`)
  await choose(
    page,
    names.map((name) => ({ name, mimeType: 'text/plain', buffer: noise })),
  )
  const attached = page.getByRole('list', { name: 'Attached' }).getByRole('listitem')
  await expect.poll(() => attached.count()).toBe(26)
  await field(page).fill('All of it.')
  await field(page).press('Enter')
  await page.getByText('more than the 15 MB').waitFor()
  expect(await field(page).inputValue()).toBe('All of it.')
  expect(await attached.count()).toBe(26)
})

test('39: a prompt that is taken back from the queue brings its attachments back', async () => {
  const page = await session([], [{ chunk: 'Working on it.' }, { sleepMs: 600_000 }])
  await field(page).fill('Go on.')
  await field(page).press('Enter')
  await page.getByText('Working on it.').waitFor()
  await choose(page, [{ name: 'later.txt', mimeType: 'text/plain', buffer: Buffer.from('Later.') }])
  await page.getByRole('list', { name: 'Attached' }).getByText('later.txt').waitFor()
  await field(page).fill('And this.')
  await field(page).press('Enter')
  const queued = page.locator('.queue li', { hasText: 'And this.' })
  await queued.getByRole('button', { name: 'Edit' }).click()
  await queued.waitFor({ state: 'detached' })
  await expect.poll(() => field(page).inputValue()).toBe('And this.')
  await page.getByRole('button', { name: 'Remove later.txt' }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
})

test('24: Stop brings all prompts that wait back into the composer, whole, with their attachments and files', async () => {
  writeFileSync(join(stage.server.work, 'kept.ts'), '')
  const page = await session([], [{ chunk: 'Working on it.' }, { sleepMs: 600_000 }])
  await field(page).fill('Go on.')
  await field(page).press('Enter')
  await page.getByText('Working on it.').waitFor()
  const long = `Long. ${'all work and no play '.repeat(100)}`
  await choose(page, [{ name: 'dot.png', mimeType: 'image/png', buffer: await png(page, 20, 10) }])
  await page.getByRole('list', { name: 'Attached' }).getByText('dot.png').waitFor()
  await field(page).fill(long)
  await field(page).press('Enter')
  const queued = page.locator('.queue').getByRole('button', { name: 'Edit' })
  await expect.poll(() => queued.count()).toBe(1)
  await field(page).pressSequentially('And @kep')
  await options(page).first().waitFor()
  await field(page).press('Enter')
  await field(page).press('Enter')
  await expect.poll(() => queued.count()).toBe(2)
  await field(page).fill('Half a sen')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await expect.poll(() => field(page).inputValue()).toBe([long, 'And @kept.ts ', 'Half a sen'].join('\n\n'))
  await page.getByRole('button', { name: 'Remove dot.png' }).waitFor()
  await page.locator('.queue').waitFor({ state: 'detached' })
  await page.getByText(/^Stopped by admin-\d/u).waitFor()
  stage.server.play([AGENT, { chunk: 'Got it.' }])
  await field(page).press('Enter')
  await page.locator('.prompt', { hasText: 'Half a sen' }).locator('.attached', { hasText: 'kept.ts' }).waitFor()
})

test('22: a prompt that another device has sent can be withdrawn from its queue', async () => {
  const page = await session([], [{ chunk: 'Working on it.' }, { sleepMs: 600_000 }])
  await field(page).fill('Go on.')
  await field(page).press('Enter')
  await page.getByText('Working on it.').waitFor()
  const other = await stage.device()
  await stage.show(other, page.url())
  await field(page).fill('Waits.')
  await field(page).press('Enter')
  await other.locator('.queue li', { hasText: 'Waits.' }).getByRole('button', { name: 'Withdraw' }).click()
  for (const one of [page, other]) await one.locator('.queue').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Stop' }).click()
})

test('40: commands that fit are listed, arrows and Tab choose one, Escape closes the list, and Enter sends what is whole', async () => {
  const page = await session([COMMANDS])
  await field(page).pressSequentially('/re')
  await expect.poll(() => options(page).allInnerTexts()).toEqual(['/review Looks at it', '/preview x'])
  await field(page).press('ArrowDown')
  await page.getByRole('option', { name: '/preview', selected: true }).waitFor()
  await field(page).press('Tab')
  await expect.poll(() => field(page).inputValue()).toBe('/preview ')
  await field(page).fill('/rev')
  await options(page).first().waitFor()
  await field(page).press('Escape')
  await options(page).first().waitFor({ state: 'detached' })
  await field(page).fill('/review')
  await field(page).press('Enter')
  await page.locator('.prompt', { hasText: '/review' }).waitFor()
})

test('40: files are found behind an @ and go with the prompt as links; what is typed meanwhile counts', async () => {
  mkdirSync(join(stage.server.work, 'src'))
  for (const name of ['relay.ts', 'replay.ts', 'read.ts']) writeFileSync(join(stage.server.work, 'src', name), '')
  const page = await session()
  await field(page).pressSequentially('See @re')
  await options(page).first().waitFor()
  await field(page).pressSequentially('pl')
  await expect.poll(() => options(page).allInnerTexts()).toEqual(['src/replay.ts'])
  await field(page).press('Enter')
  await expect.poll(() => field(page).inputValue()).toBe('See @src/replay.ts ')
  await field(page).pressSequentially('please')
  await field(page).press('Enter')
  await page.locator('.prompt', { hasText: 'please' }).locator('.attached', { hasText: 'src/replay.ts' }).waitFor()
  // It was chosen for that prompt alone.
  await field(page).fill('Not the file: @src/replay.ts, only its name.')
  await field(page).press('Enter')
  const next = page.locator('.prompt', { hasText: 'Not the file' })
  await next.waitFor()
  expect(await next.locator('.attached').count()).toBe(0)
})

test('40: a file that was made after the last look is found', async () => {
  const page = await session()
  await field(page).pressSequentially('See @')
  await options(page).first().waitFor()
  writeFileSync(join(stage.server.work, 'fresh.ts'), '')
  await field(page).press('f')
  await expect.poll(() => options(page).allInnerTexts()).toContain('fresh.ts')
})

test('what is written has the whole width and is seen whole, up to a third of the view', async () => {
  const page = await stage.device()
  await stage.newSession(page)
  const seen = () =>
    field(page).evaluate((area) => ({
      unusedWidth: (area.parentElement?.clientWidth ?? 0) - area.clientWidth,
      hiddenHeight: area.scrollHeight - area.clientHeight,
    }))
  await field(page).fill('A message that is long enough to have several lines. '.repeat(8))
  await expect.poll(seen).toEqual({ unusedWidth: 0, hiddenHeight: 0 })
  await field(page).fill('A line.\n'.repeat(100))
  await expect.poll(async () => (await field(page).boundingBox())?.height).toBe(Math.trunc(DESKTOP.height * 0.33))
})

test('a directory for a new session is completed as it is written', async () => {
  mkdirSync(join(stage.server.work, 'src'), { recursive: true })
  const page = await stage.device()
  await stage.show(page, '?new')
  await page.getByLabel('Directory on the server').fill(join(stage.server.work, 's'))
  await page.locator(`#recent option[value="${join(stage.server.work, 'src')}"]`).waitFor({ state: 'attached' })
})

test('41: a mode that is changed elsewhere shows at once; one that asks nothing more is confirmed and marked', async () => {
  const page = await session()
  const other = await stage.device()
  await stage.show(other, page.url())
  await other.locator('.chip select').selectOption('allow-all')
  await other.getByText('does everything without asking').waitFor()
  expect(await page.locator('.chip select').inputValue()).toBe('ask')
  await other.getByRole('button', { name: 'Switch' }).click()
  for (const one of [page, other]) await one.locator('.chip.risky').waitFor()
  expect(await page.locator('.chip select').inputValue()).toBe('allow-all')
})

test('42: a context that is nearly full warns, one that shrinks does not any longer, and without figures there is none', async () => {
  const page = await session()
  expect(await page.locator('.context').count()).toBe(0)
  const use = async (used: number, cost?: object) => {
    stage.server.play([AGENT, { usage: { used, size: 100_000, ...cost } }, { chunk: `Used ${used}.` }])
    await field(page).fill('More.')
    await field(page).press('Enter')
    await page.getByText(`Used ${used}.`).waitFor()
  }
  await use(96_000, { cost: { amount: 1.5, currency: 'USD' } })
  await page.locator('.context.full', { hasText: '96 % of the context · 1.50 USD' }).waitFor()
  await use(20_000)
  await page.getByText('20 % of the context').waitFor()
  expect(await page.locator('.context.full, .context.nearly').count()).toBe(0)
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
