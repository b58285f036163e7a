/** A page that a server asks the user to visit: the display, and the effects of agreeing and of declining. */
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import type { PermissionQuestion } from '../../client/incoming/permission-requests.ts'
import { pagesFor, pageToVisit } from './visit-page.ts'

/** A browser that notes what it was started with, found where browsers are. */
function browser() {
  const path = join(newDirectory(), 'opened')
  const script = `#!/bin/sh\nprintf '%s|' "$#" "$@" > '${path}.part'; mv '${path}.part' '${path}'\n`
  const directory = newDirectory({ 'xdg-open': script })
  chmodSync(join(directory, 'xdg-open'), 0o755)
  const environment = { DISPLAY: ':0', PATH: `${directory}:${process.env['PATH']}` }
  return { environment, opened: () => (existsSync(path) ? readFileSync(path, 'utf8') : undefined) }
}

const request = { sessionId: 's', message: 'docs: log in', url: 'https://example.org/in?a=1;touch$IFS/tmp/x&b=`id`' }
const kept = new AbortController().signal

describe.runIf(process.platform === 'linux')('a page', () => {
  test('is shown completely with its host, and opened by a program and not a shell once the user agrees [U7]', async () => {
    const { environment, opened } = browser()
    const asked: PermissionQuestion[] = []
    const ask = (question: PermissionQuestion) => {
      asked.push(question)
      // Nothing was loaded before they answer.
      expect(opened()).toBeUndefined()
      return Promise.resolve('accept')
    }
    const pages = pagesFor({ ask, note: () => undefined, environment })
    expect(await pages.visit(request, kept)).toBe('accept')
    const { href } = new URL(request.url)
    expect(asked).toHaveLength(1)
    expect(asked[0]?.toolCall.title).toBe('Visit a page of example.org?')
    expect(JSON.stringify(asked[0]?.toolCall.content)).toContain(JSON.stringify(`${href}\ndocs: log in`).slice(1, -1))
    await expect.poll(opened).toBe(`1|${href}|`)
  })

  test.each([
    ['decline', 'decline'],
    [null, 'cancel'],
    ['whatever', 'cancel'],
  ])('answered with %j is not opened [U7]', async (chosen, action) => {
    const { environment, opened } = browser()
    const pages = pagesFor({ ask: () => Promise.resolve(chosen), note: () => undefined, environment })
    expect(await pages.visit(request, kept)).toBe(action)
    expect(opened()).toBeUndefined()
  })

  test('without a browser is printed completely', async () => {
    const notes: string[] = []
    const note = (_style: unknown, text: string) => void notes.push(text)
    const pages = pagesFor({ ask: () => Promise.resolve('accept'), note, environment: {} })
    const url = `https://example.org/${'x'.repeat(3000)}`
    expect(await pages.visit({ ...request, url }, kept)).toBe('accept')
    expect(notes.filter((text) => text === url)).toHaveLength(2)
  })

  const odd = ['file:///etc/passwd', 'javascript:alert(1)', 'data:text/html,x', 'vscode://x', 'no address']
  test.each(odd)('%s is refused, and no user is asked [Z5]', async (url) => {
    const ask = () => Promise.reject(new Error('was asked'))
    const pages = pagesFor({ ask, note: () => undefined, environment: { DISPLAY: ':0' } })
    expect(await pages.visit({ ...request, url }, kept)).toBe('cancel')
  })
})

describe('a suspicious address has a warning [U7]', () => {
  test.each([
    ['https://xn--80ak6aa92e.com/', 'reads "аррӏе.com"'],
    ['https://аррӏе.com/', 'reads "аррӏе.com"'],
    ['https://bank.example@evil.example/', 'leads to evil.example'],
    ['http://example.org/', 'not encrypted'],
  ])('%s', (url, warning) => expect(pageToVisit(url)?.warnings.join()).toContain(warning))

  test.each(['https://example.org:8443/x?y#z', 'http://127.0.0.1:33418/callback', 'http://localhost/'])(
    'no warning for %s',
    (url) => expect(pageToVisit(url)?.warnings).toEqual([]),
  )
})
