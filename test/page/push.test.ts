/** Notifications of a page that may be closed: to whom, of what, and what their buttons may do. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page, Worker } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ScriptedPushService } from './push-service.ts'
import { PageStage } from './stage.ts'

const OPTIONS = [
  { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'all', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]
const asking = (title: string, options: readonly object[] = OPTIONS) => ({
  permission: { title, toolCallId: title, options },
})

let stage: PageStage
let service: ScriptedPushService
/** Its browser is the one behind the scripted service. */
let page: Page
beforeAll(async () => {
  service = await ScriptedPushService.start()
  stage = await PageStage.open([], { environment: { PARLEY_PUSH_SERVICES: service.origin } })
  page = await stage.newDevice({ serviceWorkers: 'allow', permissions: ['notifications'] })
  await page.addInitScript((subscription) => {
    const one = { toJSON: () => subscription, unsubscribe: async () => true }
    PushManager.prototype.subscribe = async () => one as never
    PushManager.prototype.getSubscription = async () => one as never
  }, service.subscription)
})
afterAll(async () => {
  await stage.close()
  service.close()
})

/** As a device that is new to the server, turns notifications on by the page's own menu. */
async function subscribe(answers = false): Promise<void> {
  await stage.admit(page.context())
  await page.goto(stage.server.url)
  await page.locator('summary[aria-label=Notifications]').click()
  const [tell, buttons] = [page.getByLabel('Tell this device'), page.getByLabel('Answer questions')]
  expect(await tell.isChecked()).toBe(false)
  await tell.check()
  await expect.poll(() => buttons.isEnabled()).toBe(true)
  if (answers) await buttons.check()
  await expect.poll(() => stored()).toContain(`"answers": ${answers}`)
}

const stored = () => readFileSync(join(stage.server.home, 'push-subscriptions.json'), 'utf8')

/** The newest message of this kind about a session with this title. */
async function pushed(kind: string, title: string) {
  const found = () => service.delivered.filter((one) => one.kind === kind && one.title === title)
  await expect.poll(() => found().length).toBeGreaterThan(0)
  return found().at(-1) ?? expect.fail('it was there')
}

async function workerOf(context: BrowserContext): Promise<Worker> {
  return context.serviceWorkers()[0] ?? context.waitForEvent('serviceworker')
}

/** As the push service of the browser's vendor would bring it. */
async function deliver(worker: Worker, message: object): Promise<void> {
  await worker.evaluate(async (text) => {
    const work: Promise<unknown>[] = []
    const event = Object.assign(new Event('push'), {
      data: { json: () => JSON.parse(text) as unknown },
      waitUntil: (one: Promise<unknown>) => work.push(one),
    })
    dispatchEvent(event)
    await Promise.all(work)
  }, JSON.stringify(message))
}

/** Where the browser of this worker would get its messages. */
const subscribedAt = (worker: Worker, endpoint: string) =>
  worker.evaluate((endpoint) => {
    PushManager.prototype.getSubscription = async () => ({ endpoint }) as never
  }, endpoint)

const shown = (worker: Worker) =>
  worker.evaluate(async () => {
    const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration }
    return (await registration.getNotifications()).map(({ title, body }) => `${title}: ${body}`)
  })

async function press(worker: Worker, action: string): Promise<void> {
  await worker.evaluate(async (action) => {
    const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration }
    const [notification] = await registration.getNotifications()
    const work: Promise<unknown>[] = []
    dispatchEvent(
      Object.assign(new Event('notificationclick'), {
        notification,
        action,
        waitUntil: (one: Promise<unknown>) => work.push(one),
      }),
    )
    await Promise.all(work)
  }, action)
}

const answer = (body: object, headers: object = {}) =>
  fetch(`${stage.server.url}answer`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: stage.server.url.slice(0, -1), ...headers },
    body: JSON.stringify(body),
  })

test('70: nothing is sent until a device wants it, nor to one that is gone; the keys are for the user alone', async () => {
  service.delivered.length = 0
  await subscribe()
  const other = await stage.device()
  stage.server.play([{ chunk: 'Done.' }])
  await stage.newSession(other, 'It ends')
  const { ticket, what } = await pushed('ended', 'It ends')
  expect([ticket, what]).toEqual([undefined, ''])
  for (const file of ['push-subscriptions.json', 'push-keys.json'])
    expect(statSync(join(stage.server.home, file)).mode & 0o777).toBe(0o600)

  await page.getByLabel('Tell this device').uncheck()
  await expect.poll(() => stored()).not.toContain('one')
  service.delivered.length = 0
  await stage.newSession(other, 'Nobody is told')
  await other.getByText('Done.').waitFor()
  expect(service.delivered).toEqual([])

  // A browser that its service does not know any more is forgotten.
  await subscribe()
  service.status = 410
  await stage.newSession(other, 'It is gone')
  await pushed('ended', 'It is gone')
  await expect.poll(() => stored()).not.toContain('one')
  service.status = 201
})

test('70: a session that waits is one notification, answered on the lock screen, and over when it was answered elsewhere', async () => {
  await subscribe(true)
  const worker = await workerOf(page.context())
  const other = await stage.device()
  stage.server.play([asking('Run npm test'), { chunk: 'It ran.' }])
  await stage.newSession(other, 'Push one')
  const message = await pushed('waits', 'Push one')
  expect(message).toMatchObject({ what: 'Run npm test', options: [{ optionId: 'yes' }, { optionId: 'no' }] })
  expect(service.headers.at(-1)).toMatchObject({ urgency: 'high', ttl: '3600' })
  await deliver(worker, message)
  expect(await shown(worker)).toEqual(['Waits for you · Push one: Run npm test'])
  await press(worker, 'yes')
  await other.getByText('It ran.').waitFor()
  expect(await shown(worker)).toEqual([])

  stage.server.play([asking('Run it again'), { chunk: 'Not now.' }])
  await stage.newSession(other, 'Push two')
  await deliver(worker, await pushed('waits', 'Push two'))
  expect(await shown(worker)).toHaveLength(1)
  await other.locator('.dock .options button').last().click()
  const over = await pushed('over', 'Push two')
  // Safari would end a subscription for which nothing is shown.
  await subscribedAt(worker, 'https://web.push.apple.com/one')
  await deliver(worker, over)
  expect(await shown(worker)).toEqual(['Answered · Push two: '])
  await subscribedAt(worker, service.subscription.endpoint)
  await deliver(worker, over)
  expect(await shown(worker)).toEqual([])

  // Of what the reader sees, too.
  await page.goto(`${stage.server.url}?session=${over.session}`)
  await page.bringToFront()
  const ended = { ...over, kind: 'ended' }
  await deliver(worker, ended)
  expect(await shown(worker)).toEqual([])
  await subscribedAt(worker, 'https://web.push.apple.com/one')
  await deliver(worker, ended)
  expect(await shown(worker)).toEqual(['Finished · Push two: '])
  await page.locator('summary[aria-label=Notifications]').click()
  await page.getByLabel('Tell this device').uncheck()
  await expect.poll(() => stored()).not.toContain('one')
})

test('71: a ticket answers once, for its request and by its options, and not for a foreign page or a device that is gone', async () => {
  const other = await stage.device()
  await subscribe(true)
  stage.server.play([asking('Only once'), { chunk: 'It ran.' }])
  await stage.newSession(other, 'Ticket one')
  const { ticket = '' } = await pushed('waits', 'Ticket one')
  expect((await answer({ ticket, optionId: 'yes' }, { Origin: 'https://evil.example' })).status).toBe(403)
  expect((await answer({ ticket: `${ticket}x`, optionId: 'yes' })).status).toBe(401)
  expect(await (await answer({ ticket, optionId: 'yes' })).json()).toEqual({ counted: true })
  expect((await answer({ ticket, optionId: 'no' })).status).toBe(401)
  await other.getByText('It ran.').waitFor()

  // What would hold for all calls cannot be chosen, and a call that is always asked about has no buttons.
  stage.server.play([asking('Not always'), { chunk: 'It ran too.' }])
  await stage.newSession(other, 'Ticket two')
  const second = await pushed('waits', 'Ticket two')
  expect((await answer({ ticket: second.ticket, optionId: 'all' })).status).toBe(401)
  expect((await answer({ ticket: second.ticket, optionId: 'yes' })).status).toBe(401)
  stage.server.play([asking('Each time', [OPTIONS[0] ?? {}, OPTIONS[2] ?? {}])])
  await stage.newSession(other, 'Ticket three')
  expect((await pushed('waits', 'Ticket three')).ticket).toBeUndefined()

  stage.server.play([asking('Too late')])
  await stage.newSession(other, 'Ticket four')
  const fourth = await pushed('waits', 'Ticket four')
  stage.server.removeToken()
  await page.getByRole('heading', { name: 'Connect this device' }).waitFor()
  expect((await answer({ ticket: fourth.ticket, optionId: 'yes' })).status).toBe(401)
  await other.locator('.dock .card').waitFor()
})

test('a browser names no address of its own: only push services that are known are taken', async () => {
  await stage.admit(page.context())
  await page.goto(stage.server.url)
  await page.locator('.list').waitFor()
  const asked = await page.evaluate(async (keys) => {
    const answers = []
    for (const endpoint of ['http://127.0.0.1:9/x', 'https://169.254.169.254/x', 'https://evil.example/x']) {
      const headers = { 'Content-Type': 'application/json' }
      const response = await fetch('./push', { method: 'POST', headers, body: JSON.stringify({ endpoint, ...keys }) })
      answers.push(`${response.status} ${await response.text()}`)
    }
    return answers
  }, service.subscription.keys)
  for (const one of asked)
    expect(one).toMatch(/^400 Notifications are not sent to .+: Parley does not know it as a push service/u)
  stage.complaints.length = 0
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
