/** What a page does about a bad connection: it says so, comes back by itself, and misses nothing. */
import { once } from 'node:events'
import type { Page, WebSocketRoute } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { Network } from './network.ts'
import { still } from './reader.ts'
import { PageStage } from './stage.ts'

let stage: PageStage
let network: Network
beforeAll(async () => {
  stage = await PageStage.openCommon()
  network = await Network.before(() => stage.server.port)
})
afterAll(async () => {
  await stage.close()
  await network.close()
})

const offline = (page: Page) => page.locator('.offline')
const message = (page: Page) => page.getByLabel('Message to the agent')

/** A session on a page whose way to the server is the bad one. */
async function sessionThroughNetwork(firstPrompt: string): Promise<Page> {
  const page = await stage.hurriedPage()
  await page.goto(`${network.url}?session=${await stage.server.newSession(firstPrompt)}`)
  await message(page).waitFor()
  return page
}

/** The clock of the page goes on by this, as it does while a device sleeps. */
async function sleep(page: Page, ms: number): Promise<void> {
  await page.evaluate((ms) => {
    const now = Date.now.bind(Date)
    Date.now = () => now() + ms
  }, ms)
}

/** Runs in the page before its own scripts: the first longer pause before an attempt, of no round length, has no end. */
function pauseUntilAsked(): void {
  const after = setTimeout
  const later = (run: () => void, ms = 0) => {
    const isPause = ms > 750 && !Number.isInteger(ms)
    if (!isPause || document.documentElement.hasAttribute('data-pauses')) return after(run, ms)
    document.documentElement.setAttribute('data-pauses', '')
    return 0
  }
  Object.assign(globalThis, { setTimeout: later })
}

const lookAgain = (page: Page) => page.evaluate(() => void dispatchEvent(new Event('focus')))

test('the first visit of a device that the server does not know leaves no error in the console', async () => {
  const page = await stage.stranger()
  const errors: string[] = []
  page.on('console', (said) => said.type() === 'error' && errors.push(said.text()))
  await page.goto(stage.server.url)
  await page.getByRole('heading', { name: 'Connect this device' }).waitFor()
  await Promise.all([page.waitForResponse(/\/device$/u), lookAgain(page)])
  expect(errors).toEqual([])
})

test('a server that does not reach its database says so, for as long as that lasts or the connection does', async () => {
  const page = await stage.newPage()
  const sockets: WebSocketRoute[] = []
  await page.routeWebSocket(/\/acp$/u, (socket) => {
    socket.connectToServer()
    sockets.push(socket)
  })
  const stands = (state: string) =>
    sockets.at(-1)?.send(JSON.stringify({ jsonrpc: '2.0', method: '_parley/server', params: { state } }))
  await page.goto(stage.server.url)
  const said = page.getByText('The database does not answer.')
  await page.getByRole('heading', { name: 'New session' }).waitFor()
  stands('uncertain')
  await said.waitFor()
  stands('certain')
  await said.waitFor({ state: 'detached' })
  stands('uncertain')
  await said.waitFor()
  await sockets[0]?.close({ code: 1012 })
  await said.waitFor({ state: 'detached' })
})

test('a device that has as many connections as it may is told so, and comes in when there is room', async () => {
  // Another page of the device would have a connection, too.
  const page = await stage.newDevice()
  await page.addInitScript(pauseUntilAsked)
  const [cookie] = await page.context().cookies()
  const others = Array.from(
    { length: 16 },
    () => new WebSocket(`ws://127.0.0.1:${stage.server.port}/acp`, ['acp.v1', `bearer.${cookie?.value}`]),
  )
  await Promise.all(others.map((other) => once(other, 'open')))
  // One that says nothing is given up.
  const hello = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } }
  for (const other of others) other.send(JSON.stringify(hello))
  await page.goto(stage.server.url)
  await offline(page).getByText('takes no WebSocket').waitFor()
  // It would come in by itself else, and nobody could ask it to any more.
  await page.waitForFunction(() => document.documentElement.hasAttribute('data-pauses'))
  for (const other of others) other.close()
  await offline(page).getByRole('button', { name: 'Try now' }).click()
  await page.getByRole('heading', { name: 'New session' }).waitFor()
  await offline(page).waitFor({ state: 'detached' })
})

test('a first connection that is lost before the server has answered is said, and made again', async () => {
  const page = await stage.hurriedPage()
  let [lost, isLosing] = [0, true]
  await page.routeWebSocket(/\/acp$/u, (socket) => {
    if (!isLosing) return void socket.connectToServer()
    lost += 1
    socket.onMessage(() => void socket.close({ code: 1012 }))
  })
  await page.goto(stage.server.url)
  await offline(page).getByText('Not connected since').waitFor()
  await expect.poll(() => lost).toBeGreaterThan(2)
  isLosing = false
  await page.locator('.list').waitFor()
  await offline(page).waitFor({ state: 'detached' })
})

test('a part of the page that cannot be loaded says so, and comes when the reader asks again', async () => {
  const page = await stage.device()
  await page.goto(stage.server.url)
  await page.locator('.list').waitFor()
  await page.route(/access-screen\.js$/u, (route) => route.abort('connectionrefused'))
  await page.getByRole('button', { name: 'Access' }).click()
  await page.getByText('could not be loaded').waitFor()
  await page.unroute(/access-screen\.js$/u)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Access' }).waitFor()
})

test('28: a line that carries nothing more is noticed within 45 seconds, and as soon as the reader looks again or the network is lost', async () => {
  stage.server.play([{ chunk: 'Said before.' }])
  const page = await sessionThroughNetwork('Begin.')
  await page.getByText('Said before.').waitFor()
  network.freeze()
  await sleep(page, 46_000)
  await offline(page).waitFor()
  network.open()
  await offline(page).waitFor({ state: 'detached' })

  // The clock stays: that nothing came is known by what does not answer. Also asked when a device has lost its network.
  for (const event of ['focus', 'offline']) {
    network.freeze()
    // What was on its way when the line froze still counts as heard.
    const isNoticed = async (): Promise<boolean> => {
      await page.evaluate((event) => void dispatchEvent(new Event(event)), event)
      return offline(page).isVisible()
    }
    await expect.poll(isNoticed).toBe(true)
    network.open()
    await offline(page).waitFor({ state: 'detached' })
  }
  expect(await page.getByText('Said before.').count()).toBe(1)
})

test('29: a handshake without an answer is given up, and the next one connects', async () => {
  stage.server.play([{ chunk: 'Here.' }])
  const page = await sessionThroughNetwork('Begin.')
  network.cut()
  network.mute()
  await offline(page).waitFor()
  await expect.poll(() => network.taken).toBeGreaterThan(0)
  network.open()
  await offline(page).waitFor({ state: 'detached' })
  await message(page).fill('More.')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.getByText('Here.').count()).toBe(2)
})

test('27, 30: what was said while there was no line is there once after it, and who read further up has not moved', async () => {
  stage.server.play([{ chunk: 'A line of many words for the reader.\n\n', times: 60 }, { chunk: 'The end.' }])
  const page = await sessionThroughNetwork('Begin.')
  await page.getByText('The end.').waitFor()
  await page.locator('.rows').press('PageUp')
  await page.locator('.pill').waitFor()
  await still(page)
  const place = () => page.locator('.rows').evaluate((rows) => rows.scrollTop)
  const before = await place()
  network.cut()
  await offline(page).waitFor()
  stage.server.play([{ chunk: 'away {n}. ', times: 5_000 }, { chunk: 'All of it.' }])
  await stage.server.prompt(new URL(page.url()).searchParams.get('session') ?? '', 'Say much.')
  await sleep(page, 2 * 60 * 60 * 1000)
  network.open()
  await lookAgain(page)
  await page.locator('.pill', { hasText: /new/u }).waitFor()
  expect(Math.abs((await place()) - before)).toBeLessThanOrEqual(1)
  await page.locator('.pill').click()
  const answer = page.locator('.answer', { hasText: 'All of it.' })
  await answer.waitFor()
  // A long paragraph is shown in pieces, which begin on lines of their own.
  const said = (await answer.innerText()).replaceAll(/\s+/gu, ' ').match(/away \d+\./gu)
  expect(said).toEqual(Array.from({ length: 5_000 }, (_one, n) => `away ${n + 1}.`))
})

test('33: a server that was updated under the page offers to reload it', async () => {
  const page = await stage.newPage()
  const sockets: WebSocketRoute[] = []
  await page.routeWebSocket(/\/acp$/u, (socket) => {
    sockets.push(socket)
    const version = `${sockets.length}.0.0`
    socket.connectToServer().onMessage((text) => {
      socket.send(String(text).replace(/("agentInfo":\{[^}]*"version":")[^"]*/u, `$1${version}`))
    })
  })
  await page.goto(stage.server.url)
  await page.locator('.list li').first().waitFor()
  await sockets[0]?.close({ code: 1012 })
  await page.getByText('Parley was updated.').waitFor()
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload the page' }).click()])
  await page.locator('.list').waitFor()
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))

test('a reader with 50 kB a second has a page that can be used while others have the whole answer, and all of it in the end', async () => {
  const page = await sessionThroughNetwork('')
  const look = (n: number) => ({ toolCallId: `c${n}`, title: `Look ${n}`, kind: 'read', status: 'completed' })
  const found = { content: [{ type: 'content', content: { type: 'text', text: 'x'.repeat(20_000) } }] }
  stage.server.play([
    { chunk: 'It begins. ' },
    ...Array.from({ length: 80 }, (_one, n) => ({ toolCall: { ...look(n), ...found } })),
    { chunk: 'word{n} ', times: 1_000 },
    { chunk: 'The end.' },
  ])
  network.slow(300_000)
  await stage.server.prompt(new URL(page.url()).searchParams.get('session') ?? '', 'Go.')
  await page.getByText('It begins.').waitFor()
  // Of 1.7 MB more than one is left, half a minute for this page.
  network.slow(50_000)
  await message(page).pressSequentially('A draft')
  expect(await message(page).inputValue()).toBe('A draft')
  expect(await page.getByText('The end.').count()).toBe(0)
  network.slow()
  await page.getByText('The end.').waitFor()
  const words = (await page.locator('.answer .markdown').last().innerText()).split(/\s+/u)
  expect(words).toEqual([...Array.from({ length: 1_000 }, (_one, n) => `word${n + 1}`), 'The', 'end.'])
  await page.getByText('80 steps').waitFor()
})
