/** The list of sessions: what needs the reader, on every device at the same time, and what can be done with a session. */
import { text as streamText } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PHONE, PageStage } from './stage.ts'

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.open()
})
afterAll(() => stage.close())

const item = (page: Page, title: string) => page.locator('.list li', { hasText: title })
const choose = async (page: Page, name: string): Promise<void> => {
  await page.locator('.session-head .menu summary').click()
  await page.getByRole('button', { name, exact: true }).click()
}

async function session(prompt: string, answer = 'Answered.'): Promise<Page> {
  stage.server.play([{ chunk: answer }])
  const page = await stage.device()
  await stage.newSession(page, prompt)
  await page.getByText(answer).waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  return page
}

/** A reader who looks at the list, and at nothing else. */
async function onlooker(query = ''): Promise<Page> {
  const page = await stage.device()
  await stage.show(page, query)
  await page.locator('.list li').first().waitFor()
  return page
}

test('a session that is made is in the list once, at every moment', async () => {
  stage.server.play([{ chunk: 'Hello.' }])
  const page = await stage.device()
  await page.goto(`${stage.server.url}?new`)
  await page.evaluate(() => {
    const most = { rows: 0 }
    Object.assign(globalThis, { most })
    new MutationObserver(() => {
      most.rows = Math.max(most.rows, document.querySelectorAll('.list li').length)
    }).observe(document, { childList: true, subtree: true })
  })
  // What the server tells of the session comes before its answer to who makes it, whatever the machine is busy with.
  await page.getByLabel('Directory on the server').fill(stage.server.work)
  await page.getByRole('button', { name: 'Start session' }).click()
  await page.getByLabel('Message to the agent').waitFor()
  await page.locator('.list li').waitFor()
  expect(await page.evaluate('most.rows')).toBe(1)
})

test('16, 21: a question is answered from the list without opening its session; a second answer shows who was first', async () => {
  stage.server.play([
    {
      permission: {
        title: 'Run it?',
        toolCallId: 'run',
        options: [
          { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
          { optionId: 'no', name: 'Reject', kind: 'reject_once' },
        ],
      },
    },
    { chunk: 'It ran.' },
  ])
  const page = await stage.device()
  await stage.newSession(page, 'Ask me')
  await page.locator('.dock .card').waitFor()
  const opened: string[] = []
  const list = await stage.device()
  list.on('websocket', (socket) => socket.on('framesent', ({ payload }) => opened.push(String(payload))))
  let late: (() => void) | undefined
  const other = await stage.newPage()
  await other.routeWebSocket(/\/acp$/u, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((text) => {
      if (String(text).includes('_parley/answer')) late = () => server.send(text)
      else server.send(text)
    })
  })
  for (const one of [list, other]) await one.goto(stage.server.url)
  await item(other, 'Ask me').getByRole('button', { name: 'Reject' }).click()
  await expect.poll(() => late).toBeDefined()
  await item(list, 'Ask me').getByRole('button', { name: 'Allow once' }).click()
  await page.getByText('It ran.').waitFor()
  await page.locator('.dock .card').waitFor({ state: 'detached' })
  expect(opened.filter((one) => /session\/(?:load|resume)/u.test(one))).toEqual([])
  late?.()
  await other.getByText('was first: Allow once.').waitFor()
})

test('55: what was done is unread on every device of a person until one of them has seen it, and can be marked unread again', async () => {
  const page = await session('To be read later', 'News.')
  const dot = (one: Page) => item(one, 'To be read later').getByRole('img', { name: 'unread' })
  await choose(page, 'Mark as unread')
  const other = await stage.tab(page.context())
  await other.setViewportSize(PHONE)
  await other.goto(stage.server.url)
  for (const one of [page, other]) await dot(one).waitFor()
  await item(other, 'To be read later').locator('a').click()
  await other.getByText('News.').waitFor()
  await dot(page).waitFor({ state: 'detached' })
})

test('56: a session is renamed, forked and closed for everyone; deleting one can be undone, and sends nothing before', async () => {
  const page = await session('First name')
  const other = await onlooker()
  await choose(page, 'Rename')
  await page.getByLabel('Title', { exact: true }).fill('Second name')
  await page.keyboard.press('Enter')
  await item(other, 'Second name').waitFor()
  expect(await item(other, 'First name').count()).toBe(0)

  const before = page.url()
  await page.locator('.answer').getByRole('button', { name: 'Fork from here' }).click()
  await page.waitForURL((url) => url.href !== before)
  await page.getByText('Answered.').waitFor()
  // What came after that answer is not in the fork: neither is the name.
  await item(other, 'First name').waitFor()

  const sent: string[] = []
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))))
  await page.goto(before)
  await page.getByText('Answered.').waitFor()
  await choose(page, 'Delete')
  await item(other, 'Second name').waitFor()
  await item(page, 'Second name').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await item(page, 'Second name').waitFor()
  expect(sent.filter((one) => one.includes('session/delete'))).toEqual([])
  expect(await item(other, 'Second name').count()).toBe(1)

  await stage.show(page, before)
  await page.getByText('Answered.').waitFor()
  await choose(page, 'Close')
  await page.waitForURL((url) => !url.search.includes('session='))
  await expect.poll(() => sent.filter((one) => one.includes('session/close'))).toHaveLength(1)
  await page.locator('.session-head').waitFor({ state: 'detached' })
  const closed = sent.findIndex((one) => one.includes('session/close'))
  expect(sent.slice(closed).filter((one) => /session\/(?:load|resume)/u.test(one))).toEqual([])
  await stage.show(page, before)
  await page.getByText('Answered.').waitFor()
})

test('a prompt is edited in a fork that ends before it, and what it was stays as it was', async () => {
  const page = await session('The first question')
  stage.server.play([{ chunk: 'Second answer.' }])
  await page.getByLabel('Message to the agent').fill('The second question')
  await page.keyboard.press('Enter')
  await page.getByText('Second answer.').waitFor()
  const before = page.url()
  await page.reload()
  await page
    .locator('.prompt', { hasText: 'The second question' })
    .getByRole('button', { name: 'Edit in a fork' })
    .click()
  await page.waitForURL((url) => url.href !== before)
  await expect.poll(() => page.getByLabel('Message to the agent').inputValue()).toBe('The second question')
  await page.getByText('Answered.').waitFor()
  expect(await page.getByText('Second answer.').count()).toBe(0)
})

test('a conversation is exported whole, as a file that can be read', async () => {
  const page = await session('What is it?', 'It is so.')
  const [download] = await Promise.all([page.waitForEvent('download'), choose(page, 'Export')])
  expect(download.suggestedFilename()).toBe('What is it.md')
  const text = await streamText(await download.createReadStream())
  expect(text).toMatch(/^# What is it\?\n\n## Prompt.*\n\nWhat is it\?\n\nIt is so\.\n$/u)
})

test('53: the filter and the group are in the address, and a reload or Back has the same list', async () => {
  await session('A relay to be mended')
  const page = await onlooker('?text=rel')
  await page.getByLabel('Filter by title or directory…').fill('relay')
  await expect.poll(() => page.locator('.list li').count()).toBe(1)
  await page.reload()
  await item(page, 'A relay to be mended').waitFor()
  expect(await page.locator('.list li').count()).toBe(1)
  await item(page, 'A relay to be mended').locator('a').click()
  await page.getByText('Answered.').waitFor()
  await page.goBack()
  await expect.poll(() => page.getByLabel('Filter by title or directory…').inputValue()).toBe('relay')
  await expect.poll(() => page.locator('.list li').count()).toBe(1)
})

test('54: of ten thousand sessions at most sixty rows are in the document, and each of them is found', async () => {
  const page = await stage.newPage()
  await page.routeWebSocket(/\/acp$/u, (socket) => {
    socket.connectToServer().onMessage((text) => {
      for (const line of String(text).split('\n')) socket.send(line.includes('"reset":true') ? withMany(line) : line)
    })
  })
  await page.goto(stage.server.url)
  await item(page, 'Session 9999').waitFor()
  expect(await page.locator('.list li').count()).toBeLessThanOrEqual(60)
  await page.getByRole('button', { name: /^Show more \(/u }).click()
  await expect.poll(() => page.locator('.list li').count()).toBe(120)
  await page.getByLabel('Filter by title or directory…').fill('Session 4711 of many')
  await item(page, 'Session 4711 of many').waitFor()
})

/** The list of a server that has ten thousand sessions more. */
function withMany(line: string): string {
  const message = JSON.parse(line) as { params: { sessions: object[] } }
  const many = Array.from({ length: 10_000 }, (_one, n) => ({
    sessionId: `many-${n}`,
    cwd: '/srv/many',
    title: `Session ${n} of many`,
    updatedAt: new Date(Date.UTC(2100, 0, 1, 0, 0, n)).toISOString(),
  }))
  message.params.sessions.push(...many)
  return JSON.stringify(message)
}

test('by keys alone: from the list to a session, a question, an answer and the search, with the focus always to be seen', async () => {
  stage.server.play([{ permission: { title: 'May I?', toolCallId: 'keys' } }, { chunk: 'Thank you.' }])
  const asking = await stage.device()
  await stage.newSession(asking, 'Wait for keys')
  await asking.locator('.dock .card').waitFor()
  const page = await onlooker()
  // The page may not know yet that it waits.
  await expect
    .poll(async () => {
      await page.keyboard.press('w')
      return page.locator('.dock .card').count()
    })
    .toBe(1)
  await expect.poll(() => page.evaluate('document.activeElement?.hasAttribute("data-question")')).toBe(true)
  await expect
    .poll(async () => {
      await page.keyboard.press('1')
      return page.locator('.dock .card').count()
    })
    .toBe(0)
  await page.getByText('Thank you.').waitFor()
  await page.locator('.rows').focus()
  await page.keyboard.press('i')
  await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('TEXTAREA')
  for (let step = 0; step < 12; step += 1) {
    await page.keyboard.press('Tab')
    const outline = await page.evaluate(() => {
      const { activeElement: element } = document
      return element === null || element === document.body ? 'body' : getComputedStyle(element).outlineStyle
    })
    expect(['solid', 'auto', 'body']).toContain(outline)
  }
  await page.keyboard.press('Control+k')
  await page.getByLabel('What to look for').waitFor()
})

test('73: a screen reader announces events in one place and never what is said', async () => {
  const page = await stage.device()
  await stage.newSession(page)
  stage.server.play([{ chunk: 'word {n} ', times: 200, everyMs: 2 }, { chunk: 'over.' }])
  const told = page.locator('[role=status].hidden')
  await told.evaluate((status) => {
    const said: string[] = []
    Object.assign(globalThis, { said })
    const options = { childList: true, characterData: true, subtree: true }
    new MutationObserver(() => said.push(status.textContent ?? '')).observe(status, options)
  })
  await page.getByLabel('Message to the agent').fill('Go on.')
  await page.keyboard.press('Enter')
  await page.getByText('over.').waitFor()
  await expect.poll(() => page.evaluate('said.filter((one) => one !== "")')).toEqual(['Working', 'Answer finished'])
  expect(await page.locator('.rows').getAttribute('aria-live')).toBe('off')
  expect(await page.locator('[aria-live]:not([aria-live=off])').count()).toBe(0)
  expect(await page.locator('.rows article').count()).toBe(await page.locator('.rows article[aria-label]').count())
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
