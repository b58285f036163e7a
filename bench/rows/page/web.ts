/**
 * The page in a headless browser before a real server: how soon a long session, another session and a long list are painted,
 * what a fast stream costs, and what stays in memory.
 */
import type { CDPSession, Page } from 'playwright-core'
import { openSqliteJournal } from '../../../src/adapters/journal/sqlite/sqlite-journal.ts'
import { PageStage } from '../../../test/page/stage.ts'
import { firstLoad } from './first-load.ts'
import { otherFaces } from './other-faces.ts'
import { pages } from './pages.ts'
import { fill, workerUrl } from '../../journal-rows.ts'
import { type Measuring, type Row, median, ms, quantile } from '../../row.ts'

/** Chunks of an answer; with its call and that call's end a round has twenty entries. */
const CHUNKS = 18
const ENTRIES = CHUNKS + 2
const SLOWER = 6

export async function web({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const faces = await otherFaces(directory)
  const stage = await PageStage.openAlone()
  try {
    return [
      ...(await firstLoad(stage, faces)),
      ...(await longSession(stage, quick ? 10_000 : 100_000)),
      ...(await fastStream(stage, quick ? 2_000 : 16_000, 'Markdown')),
      ...(await fastStream(stage, quick ? 2_000 : 16_000, 'one paragraph')),
      await pages(stage, quick ? 2_000 : 16_000),
      await longList(stage, 10_000),
    ]
  } finally {
    await stage.close()
  }
}

async function longSession(stage: PageStage, entries: number): Promise<readonly Row[]> {
  const rounds = entries / ENTRIES
  const last = `Call ${rounds - 1}.`
  stage.server.play(
    Array.from({ length: rounds }, (_one, n) => [
      { chunk: `Answer ${n}, part {n}. `, times: CHUNKS },
      { toolCall: { toolCallId: `c${n}`, title: `Call ${n}.`, kind: 'read', status: 'failed' } },
    ]).flat(),
  )
  const writer = await stage.newDevice()
  await stage.newSession(writer, 'A long one')
  await writer.getByText(last, { exact: true }).waitFor({ timeout: 600_000 })
  await writer.context().close()
  stage.server.play([{ chunk: 'The short answer.' }])
  const { page, devtools } = await device(stage)
  await stage.newSession(page, 'A short one')
  const what = `of a session of ${entries.toLocaleString('en')} entries`

  await page.goto(stage.server.url)
  let bytes = 0
  devtools.on('Network.webSocketFrameReceived', ({ response }) => (bytes += response.payloadData.length))
  await devtools.send('Network.enable')
  await page.getByText('A long one').waitFor()
  bytes = 0
  const opened = await click(page, 'A long one', last)
  const moved = bytes
  const heap = await heapOf(devtools)
  const switched: number[] = []
  for (let times = 0; times < 5; times += 1) {
    switched.push(await click(page, 'A short one', 'The short answer.'))
    switched.push(await click(page, 'A long one', last))
  }
  await page.locator('.rows').press('Home')
  await page.getByText('Answer 0, part 1.').first().waitFor({ timeout: 600_000 })
  const whole = await heapOf(devtools)
  const nodes = (await page.evaluate('document.querySelectorAll("*").length')) as number
  const layouts = await layoutsWhileIdle(page, devtools)

  await page.context().close()
  const slow = await device(stage)
  await slow.page.goto(stage.server.url)
  await slow.page.getByText('A long one').waitFor()
  await slow.devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  const slowly = await click(slow.page, 'A long one', last)
  await slow.page.context().close()
  return [
    {
      ...row(`end ${what} painted after the click`, opened, 500),
      floor: `${kibibytes(moved)} came, heap ${kibibytes(heap)}`,
    },
    row(`the same, processor ${SLOWER} × slower`, slowly, 3_000),
    row('switching between two open sessions', median(switched), 150),
    {
      what: `all ${what} in memory, at its beginning`,
      measured: `heap ${kibibytes(whole)}`,
      goal: '–',
      floor: `${nodes} nodes`,
      ok: true,
    },
    { what: 'layouts of an idle page in 3 s', measured: String(layouts), goal: '0', floor: '–', ok: layouts === 0 },
  ]
}

/** Keeps how long each frame took, and each key until it was painted. A text: what the page runs has no names of a bundler. */
const WATCHING = `
  globalThis.frames = []
  globalThis.keys = []
  let before = performance.now()
  function frame(now) {
    frames.push(now - before)
    before = now
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  addEventListener('keydown', ({ timeStamp }) =>
    requestAnimationFrame(() => setTimeout(() => keys.push(performance.now() - timeStamp))))
  globalThis.over = new Promise((resolve) => {
    const timer = setInterval(() => {
      if (document.querySelector('.row:nth-last-child(2) .answer .after') === null) return
      clearInterval(timer)
      resolve()
    }, 200)
  })
  undefined
`

/** What a model says, in parts of the length that models send. */
const ANSWER = `## What was wrong

The relay keeps **a cursor** for each session, and resumes \`after\` the last entry that was *sent* to a client, not after the last
that the client has shown. See [the protocol](https://example.com/protocol) for what a cursor is.

- first the test that fails
- then \`resume()\`

\`\`\`ts
function resume(cursor: number): Stream {
  const last = shown.at(-1)
  return open(last ?? cursor)
}
\`\`\`

| file | lines |
|---|--:|
| relay.ts | 212 |

`
const PARTS = ANSWER.match(/.{1,6}/gsu) ?? []

async function fastStream(
  stage: PageStage,
  chunks: number,
  kind: 'Markdown' | 'one paragraph',
): Promise<readonly Row[]> {
  const chunk = (n: number) => (kind === 'Markdown' ? (PARTS[n % PARTS.length] ?? '') : `word ${n} `)
  // Two at a time, each millisecond.
  stage.server.play(Array.from({ length: chunks }, (_one, n) => ({ chunk: chunk(n), everyMs: n % 2 })))
  const { page, devtools } = await device(stage)
  await stage.newSession(page)
  await page.evaluate(WATCHING)
  const write = page.getByLabel('Message to the agent')
  await write.fill('Stream.')
  await write.press('Enter')
  await page.locator('.answer').first().waitFor()
  const [busy, began] = [await metric(devtools, 'TaskDuration'), Date.now()]
  await page.evaluate('frames.length = 0; keys.length = 0')
  // The page says it itself: a locator that waits reads the whole document in each frame.
  const isOver = page.evaluate('over').then(() => true)
  while (!(await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, 100, false))])))
    await page.keyboard.press('x')
  const seconds = (Date.now() - began) / 1000
  const share = ((await metric(devtools, 'TaskDuration')) - busy) / seconds
  const [frames, keys] = (await page.evaluate('[frames, keys]')) as [number[], number[]]
  await page.context().close()
  const pace = `${Math.round(chunks / seconds).toLocaleString('en')} chunks/s`
  const percent = `${Math.round(share * 100)} %`
  return [
    { ...row(`frame of a stream of ${kind}, p95`, quantile(frames, 0.95), 35), floor: pace },
    { what: 'the page computes meanwhile', measured: percent, goal: '≤ 25 %', floor: pace, ok: share <= 0.25 },
    { ...row('a key is shown meanwhile, p95', quantile(keys, 0.95), 50), floor: pace },
  ]
}

async function longList(stage: PageStage, sessions: number): Promise<Row> {
  await stage.server.kill()
  const journal = await openSqliteJournal({ directory: stage.server.home, workerUrl })
  await fill(journal, { sessions, entriesEach: 1 })
  await journal.close()
  await stage.server.listen()
  const page = await stage.newDevice()
  await page.addInitScript(() => {
    const marked = new Set<string>()
    const painted = new MutationObserver(() => {
      const counted = [...document.querySelectorAll('.list .number')].map(({ textContent }) => Number(textContent))
      if (document.querySelector('.list li') !== null) mark('listed')
      if (Math.max(...counted) >= 10_000) mark('counted')
    })
    painted.observe(document, { childList: true, subtree: true, characterData: true })
    function mark(name: string): void {
      if (marked.has(name)) return
      marked.add(name)
      requestAnimationFrame(() => setTimeout(() => performance.mark(name)))
    }
  })
  const took = { listed: [] as number[], counted: [] as number[] }
  for (let times = 0; times < 5; times += 1) {
    await page.goto(stage.server.url)
    await page.locator('.list li').first().waitFor()
    await page.locator('.list .number', { hasText: /^\d{5}$/u }).waitFor()
    await page.waitForTimeout(100)
    for (const name of ['listed', 'counted'] as const) took[name].push(await markOf(page, name))
  }
  await page.context().close()
  const what = `${sessions.toLocaleString('en')} sessions listed, since the page was asked for`
  return { ...row(what, median(took.listed), 300), floor: `the last is counted after ${ms(median(took.counted))}` }
}

async function markOf(page: Page, name: string): Promise<number> {
  return (await page.evaluate(`performance.getEntriesByName('${name}')[0].startTime`)) as number
}

async function device(stage: PageStage): Promise<{ readonly page: Page; readonly devtools: CDPSession }> {
  const page = await stage.newDevice()
  const devtools = await page.context().newCDPSession(page)
  // Processor time of the page's thread: other programs on the machine do not count.
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  return { page, devtools }
}

/** Milliseconds from the click on a session of the list until this text is painted in the conversation. */
function click(page: Page, session: string, text: string): Promise<number> {
  return page.evaluate(
    async ([session = '', text = '']) => {
      const links = [...document.querySelectorAll<HTMLElement>('.list a')]
      const began = performance.now()
      links.find((link) => link.textContent?.includes(session))?.click()
      do await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      while (document.querySelector('.rows')?.textContent?.includes(text) !== true)
      return performance.now() - began
    },
    [session, text],
  )
}

async function layoutsWhileIdle(page: Page, devtools: CDPSession): Promise<number> {
  await page.waitForTimeout(1_000)
  const before = await metric(devtools, 'LayoutCount')
  await page.waitForTimeout(3_000)
  return (await metric(devtools, 'LayoutCount')) - before
}

async function metric(devtools: CDPSession, name: string): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return metrics.find((one) => one.name === name)?.value ?? Number.NaN
}

/** Bytes, after what nobody holds has been collected. */
async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage')
  return metric(devtools, 'JSHeapUsedSize')
}

function row(what: string, measured: number, goal: number): Row {
  return { what, measured: ms(measured), goal: `≤ ${goal} ms`, floor: '–', ok: measured <= goal }
}

function kibibytes(bytes: number): string {
  return `${Math.round(bytes / 1024).toLocaleString('en')} KiB`
}
