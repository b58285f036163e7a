/** A server that dies under the page: nothing that was shown is lost, and the page comes back by itself. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PageStage } from './stage.ts'

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.open([], { hasProcess: true })
})
afterAll(() => stage.close())

test('25, 27: a kill in mid-sentence leaves the half sentence, says where it was cut and offers to go on; nothing is doubled', async () => {
  stage.server.play([{ chunk: 'Before the cut. ' }, { chunk: 'Half a' }, { sleepMs: 600_000 }])
  const page = await stage.hurriedPage()
  await stage.newSession(page, 'Begin.')
  await page.getByText('Before the cut. Half a').waitFor()
  await page.getByLabel('Message to the agent').fill('A draft')
  await stage.server.kill()
  await page.getByText('Not connected since').waitFor()
  stage.server.play([{ chunk: 'And so it went on.' }])
  await stage.server.listen()
  await page.getByText('Not connected since').waitFor({ state: 'detached' })
  await page.getByText('The server stopped here.').waitFor()
  expect(await page.getByText('Before the cut. Half a').count()).toBe(1)
  expect(await page.locator('.prompt').count()).toBe(1)
  expect(await page.getByLabel('Message to the agent').inputValue()).toBe('A draft')

  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('And so it went on.').waitFor()
  await page.getByRole('button', { name: 'Continue' }).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('And so it went on.').waitFor()
  expect(await page.getByText('Before the cut. Half a').count()).toBe(1)
})

test('35: what is sent while there is no server waits, can be taken back, and is sent once', async () => {
  stage.server.play([{ chunk: 'Heard.' }])
  const page = await stage.hurriedPage()
  await stage.newSession(page, 'First.')
  await page.getByText('Heard.').waitFor()
  await stage.server.kill()
  const write = page.getByLabel('Message to the agent')
  for (const text of ['Not this one', 'This one']) {
    await write.fill(text)
    await page.getByRole('button', { name: 'Send when connected' }).click()
    await page.locator('.queue').getByText(text, { exact: true }).waitFor()
  }
  await page.locator('.queue li', { hasText: 'Not this one' }).getByRole('button', { name: 'Edit' }).click()
  await expect.poll(() => write.inputValue()).toBe('Not this one')
  await stage.server.listen()
  await page.locator('.prompt', { hasText: 'This one' }).waitFor()
  await expect.poll(() => page.getByText('Heard.').count()).toBe(2)
  expect(await page.locator('.prompt').count()).toBe(2)
  expect(await write.inputValue()).toBe('Not this one')
})

test('31: a journal that ends before what the page has is said, and the session is loaded anew', async () => {
  stage.server.play([{ chunk: 'The first answer.' }])
  const page = await stage.hurriedPage()
  await stage.newSession(page, 'Begin.')
  await page.getByText('The first answer.').waitFor()
  await stage.server.kill()
  const backup = join(stage.server.work, 'backup')
  const journals = readdirSync(stage.server.home).filter((name) => name.startsWith('journal.db'))
  mkdirSync(backup)
  for (const name of journals) copyFileSync(join(stage.server.home, name), join(backup, name))
  stage.server.play([{ chunk: 'The second answer.' }])
  await stage.server.listen()
  await page.getByLabel('Message to the agent').fill('Go on.')
  await page.keyboard.press('Enter')
  await page.getByText('The second answer.').waitFor()
  await stage.server.kill()
  for (const name of journals) copyFileSync(join(backup, name), join(stage.server.home, name))
  await stage.server.listen()
  await page.getByRole('alert').getByText('was loaded anew').waitFor()
  await page.getByText('The second answer.').waitFor({ state: 'detached' })
  await page.getByText('The first answer.').waitFor()
  expect(await page.getByText('The first answer.').count()).toBe(1)
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))

/** A disk of its own needs them, which not every machine lets a user have. */
const hasNamespaces = spawnSync('unshare', ['-Urm', 'true']).status === 0

// The last one: what the server has on that disk is gone with it.
test.runIf(hasNamespaces)(
  'on a full disk a prompt is refused with the reason and stays in the composer; with room again it is sent, and nothing is lost',
  async () => {
    stage.server.play([{ chunk: 'Before.' }])
    const page = await stage.newDevice()
    await stage.newSession(page, 'First.')
    await page.getByText('Before.').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    await stage.server.kill()
    await stage.server.listenOnSmallDisk()
    await page.reload()
    await page.getByText('Before.').waitFor()

    const makeRoom = stage.server.fillDisk()
    const write = page.getByLabel('Message to the agent')
    await write.fill('Second.')
    await write.press('Enter')
    await page.getByText('The disk is full').waitFor()
    expect(await write.inputValue()).toBe('Second.')
    expect(await page.getByText('Before.').count()).toBe(1)

    makeRoom()
    stage.server.play([{ chunk: 'After.' }])
    await write.press('Enter')
    await page.getByText('After.').waitFor()
    await page.reload()
    await page.getByText('After.').waitFor()
    expect(await page.locator('.prompt').count()).toBe(2)
    expect(await page.getByText('Before.').count()).toBe(1)
  },
)
