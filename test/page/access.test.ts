/** Who gets in, decided in the browser: devices, tokens and links to a session, and what happens when one ends. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { faultsOf } from '../docs-search/page/look.ts'
import { PHONE, PageStage } from './stage.ts'

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.open([{ chunk: 'Said.' }])
})
afterAll(() => stage.close())

async function access(page: Page): Promise<void> {
  await stage.show(page, '?access')
  await page.getByRole('heading', { name: 'Access' }).waitFor()
}

/** The link that has just been made. */
const link = (page: Page) => page.locator('.made code').innerText()
const part = (page: Page, name: string) => page.getByRole('region', { name })

async function invite(page: Page): Promise<string> {
  await part(page, 'Devices').getByText('Add a device').click()
  await part(page, 'Devices').getByRole('button', { name: 'Make a link' }).click()
  await page.getByRole('img', { name: 'QR code of the link' }).waitFor()
  return link(page)
}

test('60: the link of a QR code makes one device; used again it is a sentence, and so is a wrong one', async () => {
  const page = await stage.device()
  await access(page)
  await page.getByText('No device is paired yet.').waitFor()
  const address = await invite(page)
  expect(address).toMatch(new RegExp(`^${stage.server.url}#pair=[\\w-]{20,}$`, 'u'))

  const phone = await stage.stranger({ viewport: PHONE })
  // As `parley web` opens it, which says where it was typed.
  await phone.goto(`${address}&in=${encodeURIComponent(stage.server.work)}`)
  await phone.getByRole('navigation', { name: 'Sessions' }).waitFor()
  expect(phone.url()).toBe(stage.server.url)
  // There is no session yet, so the list begins with the form of one.
  await expect.poll(() => phone.getByLabel('Directory on the server').inputValue()).toBe(stage.server.work)
  await part(page, 'Devices').getByRole('listitem').waitFor()
  expect(await part(page, 'Devices').getByRole('listitem').count()).toBe(1)

  const late = await stage.stranger()
  await late.goto(address)
  await late.getByText('This code is not valid').waitFor()
  await late.getByLabel('Or enter the code').fill('x'.repeat(26))
  await late.getByRole('button', { name: 'Connect' }).click()
  await late.getByText('This code is not valid').waitFor()
})

test('60: a browser that keeps no cookies is told so, instead of being asked for a code for ever', async () => {
  const page = await stage.device()
  await access(page)
  const address = await invite(page)
  const other = await stage.stranger()
  await other.route(/\/pair$/u, async (route) => {
    const response = await route.fetch()
    await other.context().clearCookies()
    await route.fulfill({ response, headers: {} })
  })
  await other.goto(address)
  await other.getByRole('alert').getByText('keeps no cookies').waitFor()
})

test('32: a device that is revoked while an answer streams is out at once, and has its draft when it is back', async () => {
  const page = await stage.device()
  await access(page)
  const address = await invite(page)
  const other = await stage.stranger()
  await other.goto(address)
  await other.getByRole('navigation', { name: 'Sessions' }).waitFor()
  stage.server.play([{ chunk: 'word {n} ', times: 100_000, everyMs: 5 }])
  await stage.newSession(page, 'Stream.')
  await page.getByText('word 9').waitFor()
  await stage.show(other, page.url())
  await other.getByText('word 9').waitFor()
  await other.getByLabel('Message to the agent').fill('Half a sen')
  await access(page)
  const device = part(page, 'Devices').getByRole('listitem').last()
  await device.getByRole('button', { name: 'Revoke' }).click()
  await device.getByRole('button', { name: 'Revoke now' }).click()
  await other.getByRole('heading', { name: 'Connect this device' }).waitFor()
  await stage.admit(other.context())
  await other.evaluate(() => void dispatchEvent(new Event('focus')))
  await expect.poll(() => other.getByLabel('Message to the agent').inputValue()).toBe('Half a sen')
  await other.getByRole('button', { name: 'Stop' }).click()
})

test('62: a role that is lowered holds at once, and who may not decide about access finds no way to it', async () => {
  const page = await stage.device()
  await access(page)
  const other = await stage.stranger()
  await other.goto(await invite(page))
  await other.getByRole('navigation', { name: 'Sessions' }).waitFor()
  expect(await other.getByRole('button', { name: 'Access' }).count()).toBe(0)
  await stage.show(other, '?access')
  await other.getByRole('alert').waitFor()
  await stage.newSession(page, 'Something.')
  await stage.show(other, page.url())
  await other.getByLabel('Message to the agent').waitFor()
  await access(page)
  await part(page, 'Devices').getByRole('combobox').last().selectOption('read')
  await other.getByText('You can read this session.').waitFor()
  expect(await other.getByLabel('Message to the agent').count()).toBe(0)
})

test('63, 64: a link shows its session alone, live and without a way to write, and says so when it ends', async () => {
  stage.server.play([{ chunk: 'A secret of another session.' }])
  const page = await stage.device()
  await stage.newSession(page, 'Not for others.')
  stage.server.play([{ chunk: 'Shared words.' }])
  await stage.newSession(page, 'For others too.')
  await page.getByText('Shared words.').waitFor()
  const session = new URL(page.url()).searchParams.get('session') ?? ''
  await page.getByRole('group').locator('summary[aria-label=More]').click()
  await page.getByRole('button', { name: 'Share' }).click()
  await part(page, 'Links to a session').getByRole('button', { name: 'Make a link' }).click()
  await page.locator('.qr').waitFor()
  const address = await link(page)

  const reader = await stage.stranger({ viewport: PHONE })
  await reader.goto(address)
  await reader.getByText('Shared words.').waitFor()
  await reader.getByText('You can read this session.').waitFor()
  expect(reader.url()).not.toContain('#')
  expect(await reader.getByLabel('Message to the agent').count()).toBe(0)
  expect(await faultsOf(reader)).toEqual([])
  const code = new URL(address).hash.replace('#share=', '')
  expect([...stage.requested].filter((one) => one.includes(code))).toEqual([])

  stage.server.play([{ chunk: 'And these are live.' }])
  await stage.server.prompt(session, 'Go on.')
  await reader.getByText('And these are live.').waitFor()

  // The other session does not exist for it, whatever it asks.
  const id = new URL(reader.url()).searchParams.get('share') ?? ''
  await stage.show(reader, `?search=secret&share=${id}`)
  await reader.getByText('Nothing found.').waitFor()
  await reader.goBack()
  await reader.getByText('Shared words.').waitFor()

  const shared = part(page, 'Links to a session').getByRole('listitem')
  await shared.getByRole('button', { name: 'End' }).click()
  await shared.getByRole('button', { name: 'End now' }).click()
  await reader.getByRole('heading', { name: 'This link has ended' }).waitFor()
})

test('a token is shown once, and gone when it is revoked', async () => {
  const page = await stage.device()
  await access(page)
  const tokens = part(page, 'Tokens')
  await tokens.getByText('Add a token').click()
  await tokens.getByLabel('Name').fill('nightly')
  await tokens.getByRole('button', { name: 'Make a token' }).click()
  const secret = await link(page)
  const ask = () => fetch(`${stage.server.url}acp`, { headers: { Authorization: `Bearer ${secret}` } })
  expect([401, 429]).not.toContain((await ask()).status)
  await page.reload()
  const row = tokens.getByRole('listitem').filter({ hasText: 'nightly' })
  await row.waitFor()
  expect(await page.content()).not.toContain(secret)
  await row.getByRole('button', { name: 'Revoke' }).click()
  await row.getByRole('button', { name: 'Revoke now' }).click()
  await row.waitFor({ state: 'detached' })
  // Wrong credentials of other tests may have used up the tries of this network.
  expect([401, 429]).toContain((await ask()).status)
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
