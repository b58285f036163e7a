/** The page in a real browser before a real server. One server for a file, one browser for all files. */
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page, chromium } from 'playwright-core'
import type { Role } from '../../src/credentials/roles.ts'
import { browserPath } from '../docs-search/page/look.ts'
import { PageServer, type Step } from './server.ts'

export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 844 }

/** A server that is gone and a device that is not known are said by the browser itself. */
const EXPECTED = /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET|WebSocket connection to|status of (?:40[146]|502)/u

const NO_BROWSER = 'There is no browser; get one with `apt-get install chromium`, or say where it is in CHROME_PATH.'

export class PageStage {
  readonly server: PageServer
  readonly browser: Browser
  /** What no page may ever say: errors, refused content, exceptions that nobody caught. */
  readonly complaints: string[] = []
  /** Addresses that pages have asked for. */
  readonly requested = new Set<string>()

  /** Called with how to close each new device; a test closes it at its end. */
  readonly #opened: (close: () => Promise<void>) => void

  private constructor(server: PageServer, browser: Browser, opened: (close: () => Promise<void>) => void) {
    this.server = server
    this.browser = browser
    this.#opened = opened
  }

  /** For a script, with a browser of its own. */
  static async openAlone(steps: readonly Step[] = []): Promise<PageStage> {
    const executablePath = browserPath(process.env)
    if (executablePath === undefined) throw new Error(NO_BROWSER)
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const [server, browser] = await Promise.all([PageServer.start(steps), chromium.launch({ executablePath, args })])
    return new PageStage(server, browser, () => undefined)
  }

  /** For the tests of a file. `environment`: settings of the server. */
  static async open(
    steps: readonly Step[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<PageStage> {
    // A script has no test runner to load.
    const { TestRunner, inject, onTestFinished } = await import('vitest')
    const address = inject('browser')
    if (address === '') throw new Error(NO_BROWSER)
    const [server, browser] = await Promise.all([PageServer.start(steps, environment), chromium.connect(address)])
    return new PageStage(server, browser, (close) => {
      if (TestRunner.getCurrentTest() !== undefined) onTestFinished(close)
    })
  }

  /** A device of its own, which the server knows by its cookie. */
  async device(options: BrowserContextOptions = {}, role: Role = 'admin'): Promise<Page> {
    const context = await this.#context(options)
    await this.admit(context, role)
    return this.tab(context)
  }

  /** The server knows this browser from now on. */
  async admit(context: BrowserContext, role: Role = 'admin'): Promise<void> {
    const { port, url } = this.server
    await context.addCookies([{ name: `parley-${port}`, value: this.server.token(role), url, sameSite: 'Strict' }])
  }

  /** One that the server does not know. */
  async stranger(options: BrowserContextOptions = {}): Promise<Page> {
    return this.tab(await this.#context(options))
  }

  /** One tab more of a device. */
  async tab(context: BrowserContext): Promise<Page> {
    const page = await context.newPage()
    // What does not come is named by the locator that waits for it.
    page.setDefaultTimeout(30_000)
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) this.complaints.push(message.text())
    })
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('request', (request) => this.requested.add(request.url()))
    return page
  }

  /** Makes a session by the page's own form. */
  async newSession(page: Page, firstPrompt = ''): Promise<void> {
    await page.goto(`${this.server.url}?new`)
    await page.getByLabel('Directory on the server').fill(this.server.work)
    await page.getByLabel('First prompt').fill(firstPrompt)
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByLabel('Message to the agent').waitFor()
  }

  /** The browser stays, without the devices of this file. */
  async close(): Promise<void> {
    await this.browser.close()
    await this.server.close()
  }

  /** It is gone with its test: a page that streams on slows down those after it. */
  async #context(options: BrowserContextOptions): Promise<BrowserContext> {
    const context = await this.browser.newContext({
      viewport: DESKTOP,
      locale: 'en-GB',
      // What it kept of the page would not be asked for again.
      serviceWorkers: 'block',
      ...options,
    })
    this.#opened(() => context.close())
    return context
  }
}
