/** The page without its server: what a browser keeps of it, and how a newer one comes. */
import { once } from 'node:events'
import { type Server, createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PageStage, hurry } from './stage.ts'

let stage: PageStage
/** In a browser that may keep the page. */
let device: Page
beforeAll(async () => {
  stage = await PageStage.open([{ chunk: 'Said.' }], { hasProcess: true })
  device = await stage.newDevice({ serviceWorkers: 'allow' })
  await device.addInitScript(hurry)
})
afterAll(() => stage.close())

/** Resolves when the browser has kept the page. */
const kept = (page: Page) =>
  page.evaluate(async () => {
    await navigator.serviceWorker.ready
  })

test('34: without its server a page that was kept shows itself and the last list, and comes back', async () => {
  const page = device
  await stage.newSession(page, 'Keep this title')
  await page.getByText('Said.').waitFor()
  await kept(page)
  await stage.server.kill()
  await page.goto(stage.server.url)
  await page.locator('.offline').getByText('Not connected since').waitFor()
  await page.locator('.list li', { hasText: 'Keep this title' }).waitFor()
  // Nothing that was said is kept.
  expect(await page.content()).not.toContain('Said.')
  await stage.server.listen()
  await page.locator('.offline').waitFor({ state: 'detached' })
  await page.locator('.list li', { hasText: 'Keep this title' }).click()
  await page.getByText('Said.').waitFor()
})

test('34: a device that is none any more forgets the list', async () => {
  const page = device
  await stage.newSession(page, 'A title to be forgotten')
  await kept(page)
  await page.reload()
  await page.locator('.list li', { hasText: 'A title to be forgotten' }).waitFor()
  // As when the tab is closed.
  await page.evaluate(() => dispatchEvent(new Event('pagehide')))
  expect(await page.evaluate(() => localStorage.getItem('parley.list'))).toContain('A title to be forgotten')
  stage.server.removeToken()
  await page.getByRole('heading', { name: 'Connect this device' }).waitFor()
  await page.evaluate(() => dispatchEvent(new Event('pagehide')))
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
})

test('33, 34: a newer page that the browser has fetched is offered, and comes with a reload; it is kept behind a proxy too', async () => {
  let version = 1
  const proxy = await withOwnWorker(() => version)
  await stage.admit(device.context())
  const page = await stage.tab(device.context())
  await page.addInitScript(hurry)
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`
  await page.goto(url)
  await page.locator('.list').waitFor()
  await kept(page)
  version = 2
  await page.evaluate(async () => (await navigator.serviceWorker.ready).update())
  await page.getByText('Parley was updated.').waitFor()
  await page.getByRole('button', { name: 'Reload the page' }).click()
  await page.locator('.list').waitFor()
  await expect.poll(() => page.evaluate(async () => (await navigator.serviceWorker.ready).waiting)).toBe(null)
  expect(await page.getByText('Parley was updated.').count()).toBe(0)

  // The proxy answers for a server that does not.
  await stage.server.kill()
  expect((await fetch(url)).status).toBe(502)
  await page.goto(url)
  await page.locator('.offline').getByText('Not connected since').waitFor()
  await page.close()
  await stage.server.listen()
  proxy.closeAllConnections()
  proxy.close()
})

/** A way to the server on which the service worker is another with each version. */
async function withOwnWorker(version: () => number): Promise<Server> {
  const { port } = stage.server
  const proxy = createServer((incoming, outgoing) => {
    const { url, method, headers } = incoming
    const isWorker = url === '/sw.js'
    const asked = request({
      port,
      path: url,
      method,
      headers: { ...headers, ...(isWorker && { 'accept-encoding': '' }) },
    })
    asked.on('response', (answer) => {
      const { 'content-length': _length, ...rest } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 500, rest)
      if (isWorker) outgoing.write(`// ${version()}\n`)
      answer.pipe(outgoing)
    })
    asked.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(asked)
  })
  proxy.on('upgrade', (incoming, near) => {
    const far = connect(port, '127.0.0.1', () => {
      const lines = incoming.rawHeaders.flatMap((one, n, all) => (n % 2 === 0 ? [`${one}: ${all[n + 1] ?? ''}`] : []))
      far.write(`GET ${incoming.url ?? ''} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      near.pipe(far).pipe(near)
    })
    for (const end of [near, far]) end.on('error', () => [near, far].forEach((one) => one.destroy()))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return proxy
}

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
