/** What tools did, in the browser: diffs of any size, the output of commands, calls that fail, and the plan. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Step } from './server.ts'
import { PHONE, PageStage } from './stage.ts'

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.openCommon()
})
afterAll(() => stage.close())

async function session(steps: readonly Step[]): Promise<Page> {
  stage.server.play([...steps, { chunk: 'All said.' }])
  const page = await stage.device()
  await stage.newSession(page, 'Work.')
  await page.getByText('All said.').waitFor()
  return page
}

const edit = (toolCallId: string, oldText: string | null, newText: string): Step => ({
  toolCall: {
    toolCallId,
    title: toolCallId,
    kind: 'edit',
    status: 'completed',
    content: [{ type: 'diff', path: `/work/${toolCallId}`, ...(oldText !== null && { oldText }), newText }],
  },
})
const said = (text: string) => ({ content: [{ type: 'content', content: { type: 'text', text } }] })

test('45: a diff of 20,000 lines opens folded; a new, an emptied and a CRLF file are what they are', async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}`)
  const changed = lines.with(10_000, 'another line').join('\n')
  const page = await session([
    edit('large', lines.join('\n'), changed),
    edit('new', null, 'a\nb\n'),
    edit('emptied', 'a\n', ''),
    edit('ends', 'a\r\nb\r\n', 'a\nb\n'),
  ])
  const diff = (name: string) => page.locator('.diff', { hasText: name })
  await page.getByRole('button', { name: '4 steps' }).click()
  await expect.poll(() => diff('large').locator('tr').count()).toBe(9)
  await diff('large').getByText('unchanged lines').first().waitFor()
  expect(await diff('large').locator('figcaption').innerText()).toMatch(/\+1\s*−1/u)
  await expect.poll(() => diff('new').locator('td.added.text').count()).toBe(2)
  await expect.poll(() => diff('emptied').locator('td.removed.text').count()).toBe(1)
  expect(await diff('ends').locator('td.added, td.removed').count()).toBe(0)

  // On a wide screen side by side, on a phone one below the other.
  expect(await diff('large').locator('tr:has(td.removed):has(td.added)').count()).toBe(1)
  await page.setViewportSize(PHONE)
  await diff('large').locator('tr.removed').waitFor({ state: 'attached' })
  await expect.poll(() => diff('large').locator('tr.added').count()).toBe(1)
})

test('46: the output of a command has its colours and nothing else of a terminal, its last lines first', async () => {
  const escape = '\u001b'
  const output = [
    ...Array.from({ length: 5_000 }, (_, n) => `${escape}[3${n % 8}mline ${n}${escape}[0m of the long output`),
    `${escape}[2J${escape}[10;10Hmoved${escape}]8;;https://evil.example${escape}\\linked${escape}]8;;${escape}\\`,
    '10 %\r50 %\r100 %',
  ].join('\n')
  const page = await session([
    { toolCall: { toolCallId: 'run', title: 'Run it', kind: 'execute', status: 'failed', ...said(output) } },
  ])
  const terminal = page.locator('.terminal pre')
  await terminal.getByText('line 4999').waitFor()
  const text = await terminal.innerText()
  expect(text).not.toContain('line 4000 ')
  expect(text).toContain('movedlinked')
  expect(text.trimEnd().endsWith('100 %')).toBe(true)
  for (const hidden of ['evil', '50 %', escape]) expect(text).not.toContain(hidden)
  expect(await terminal.locator('a').count()).toBe(0)
})

test('43: a plan of 40 entries that is replaced 50 times is one line, and moves nothing', async () => {
  const plan = (done: number) =>
    Array.from({ length: 40 }, (_, n) => ({
      content: `Step ${n}`,
      status: n < done ? 'completed' : n === done ? 'in_progress' : 'pending',
    }))
  const page = await session(Array.from({ length: 40 }, (_, n) => ({ plan: plan(n) })))
  const line = page.locator('.plan')
  expect(await line.count()).toBe(1)
  await line.getByText('Plan 39 of 40').waitFor()
  await line.getByText('next: Step 39').waitFor()
})

test('44: a call that fails stays open with its new content and its duration; one that is done is folded', async () => {
  const page = await session([
    { toolCall: { toolCallId: 'good', title: 'It works', kind: 'read', status: 'completed', ...said('quiet') } },
    { toolCall: { toolCallId: 'bad', title: 'It breaks', kind: 'execute', status: 'in_progress', ...said('begun') } },
    // A duration of less than a twentieth of a second is not shown.
    { sleepMs: 100 },
    { toolCall: { toolCallId: 'bad', status: 'failed', ...said('it is broken') } },
  ])
  const bad = page.locator('.call.failed')
  await bad.locator('.terminal').getByText('it is broken').waitFor()
  expect(await bad.locator('.terminal').getByText('begun').count()).toBe(0)
  expect(await bad.locator('.took').innerText()).toMatch(/^\d+\.\d s$/u)
  expect(await page.getByText('quiet').count()).toBe(0)
})

test('50: what looks like a card of the page is text where an agent prints it', async () => {
  const page = await session([
    {
      chunk:
        '<div class="card" role="group" data-question><button>Allow once</button></div>\n\n**Allow once** [1 Allow]',
    },
  ])
  expect(await page.locator('.answer').locator('button:not(.bare), [role=group], .card').count()).toBe(0)
  expect(await page.locator('.dock').count()).toBe(0)
  await page.getByText('<div class="card"').waitFor()
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
