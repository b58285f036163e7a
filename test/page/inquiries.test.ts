/** What MCP servers and agents ask besides permission, in the browser: forms to fill in, and pages to visit. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { faultsOf } from '../docs-search/page/look.ts'
import { PageStage } from './stage.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', minLength: 2, description: 'As it is signed' },
    mail: { type: 'string', title: 'Mail', format: 'email' },
    count: { type: 'integer', title: 'How many', minimum: 1, maximum: 9, default: 3 },
    quick: { type: 'boolean', title: 'Quick', default: true },
    colour: {
      type: 'string',
      title: 'Colour',
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' },
      ],
    },
    parts: { type: 'array', title: 'Parts', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1 },
  },
  required: ['name', 'parts'],
}

let stage: PageStage
beforeAll(async () => {
  stage = await PageStage.openCommon()
})
afterAll(() => stage.close())

const card = (page: Page) => page.getByRole('group', { name: 'Who' })
const answer = (page: Page) => page.locator('.answer')

async function asked(elicit: object): Promise<Page> {
  stage.server.play([{ elicit: { message: 'Who is asking?', ...elicit } }])
  const page = await stage.device()
  await stage.newSession(page)
  // A program that knows no forms has none to answer.
  await page.getByLabel('Message to the agent').fill('Ask me.')
  await page.keyboard.press('Enter')
  await card(page).waitFor()
  return page
}

test('59: a form of a server is native fields; what does not fit is said at its field, and what fits is sent', async () => {
  const page = await asked({ schema: SCHEMA })
  const field = (name: string) => card(page).getByLabel(name)
  expect(await field('How many').inputValue()).toBe('3')
  expect(await field('Mail').getAttribute('inputmode')).toBe('email')
  expect(await faultsOf(page, '.dock')).toEqual([])
  await field('Your name').fill('A')
  await field('How many').fill('12')
  await card(page).getByRole('button', { name: 'Send' }).click()
  await expect
    .poll(() => card(page).getByRole('alert').allInnerTexts())
    .toEqual(['Your name is shorter than 2 characters.', 'How many is more than 9.', 'Parts needs an answer.'])
  await field('Your name').fill('Ada')
  await field('How many').fill('4')
  await field('Colour').selectOption({ label: 'Green' })
  await field('b').check()
  await card(page).getByRole('button', { name: 'Send' }).click()
  await answer(page).getByText('accept').waitFor()
  expect(JSON.parse((await answer(page).innerText()).replace(/^[^{]*|[^}]*$/gu, ''))).toEqual({
    name: 'Ada',
    count: 4,
    quick: true,
    colour: 'g',
    parts: ['b'],
  })
  expect(await card(page).count()).toBe(0)
})

test('59: a form can be declined, and a turn that is cancelled takes its form away', async () => {
  const page = await asked({ schema: SCHEMA })
  await card(page).getByRole('button', { name: 'Decline' }).click()
  await answer(page).getByText('decline').waitFor()
  const other = await asked({ schema: SCHEMA })
  await other.getByRole('button', { name: 'Stop' }).click()
  await card(other).waitFor({ state: 'detached' })
})

test('59: a page to visit shows its whole address and its true host, and is opened by a click alone', async () => {
  const url = 'https://xn--pple-43d.com/sign-in?next=%2Fdocs.example.org'
  const page = await asked({ url })
  expect(await card(page).locator('.address').innerText()).toBe(url)
  await card(page).getByText('It leads to xn--pple-43d.com').waitFor()
  await card(page).getByText('letters that can look like others').waitFor()
  const open = card(page).getByRole('link', { name: 'Open the page' })
  expect(await open.getAttribute('rel')).toContain('noopener')
  expect([...stage.requested].filter((one) => one.includes('xn--'))).toEqual([])
  await card(page).getByRole('button', { name: 'Decline' }).click()
  await answer(page).getByText('decline').waitFor()
})

test('75: and no page has complained', () => expect(stage.complaints).toEqual([]))
