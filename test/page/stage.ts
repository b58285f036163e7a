/** The page in a real browser before a real server. One server for a file; all files share a browser, and a worker’s its devices. */
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page, chromium } from 'playwright-core'
import type { Role } from '../../src/credentials/roles.ts'
import { browserPath, openBrowser } from '../docs-search/page/look.ts'
import { PageServer, type Step } from './server.ts'

export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 844 }

/** A server that is gone and a device that is not known are said by the browser itself. */
const EXPECTED = /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET|WebSocket connection to|status of (?:40[146]|502)/u

const NO_BROWSER = 'There is no browser; get one with `apt-get install chromium`, or say where it is in CHROME_PATH.'

export interface Look {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
}

/** What the files of a worker share; it ends with the worker. */
let connection: Promise<Browser> | undefined
/** Devices of tests that are over, in whichever file. */
const idle: Page[] = []

export class PageStage {
  readonly server: PageServer
  readonly browser: Browser
  /** What no page may ever say: errors, refused content, exceptions that nobody caught. */
  readonly complaints: string[] = []
  /** Addresses that pages have asked for. */
  readonly requested = new Set<string>()

  /** Calls what it is given when the test that runs now is over, if one does. */
  readonly #atEndOfTest: (clean: () => Promise<void>) => boolean
  /** What ends with the stage, the last one first. */
  readonly #ends: (() => Promise<void>)[]

  private constructor(server: PageServer, browser: Browser, atEndOfTest: (clean: () => Promise<void>) => boolean) {
    this.server = server
    this.browser = browser
    this.#atEndOfTest = atEndOfTest
    this.#ends = [() => server.close()]
  }

  /** For a script, with a browser of its own. */
  static async openAlone(steps: readonly Step[] = []): Promise<PageStage> {
    const executablePath = browserPath(process.env)
    if (executablePath === undefined) throw new Error(NO_BROWSER)
    const [server, browser] = await Promise.all([PageServer.start(steps), openBrowser(executablePath)])
    // Its devices end with the browser.
    const stage = new PageStage(server, browser, () => true)
    stage.#ends.push(() => browser.close())
    return stage
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
    connection ??= chromium.connect(address)
    const [server, browser] = await Promise.all([PageServer.start(steps, environment), connection])
    return new PageStage(server, browser, (clean) => {
      if (TestRunner.getCurrentTest() === undefined) return false
      onTestFinished(clean)
      return true
    })
  }

  /**
   * A device that the server knows by its cookie, with nothing of an earlier test but its process: a browser takes longer for
   * a new one than for the rest of most tests. What cannot be undone, as init scripts and WebSocket routes, needs `newDevice`.
   */
  async device({ role = 'admin', ...look }: Look & { readonly role?: Role } = {}): Promise<Page> {
    const page = await this.stranger(look)
    await this.admit(page.context(), role)
    return page
  }

  /** A browser of its own that the server knows. */
  async newDevice(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#context(options)
    // A page that streams on would slow down the tests after it, which need not wait for its end.
    this.#later(async () => void context.close().catch(() => undefined))
    await this.admit(context)
    return this.tab(context)
  }

  /** The server knows this browser from now on. */
  async admit(context: BrowserContext, role: Role = 'admin'): Promise<void> {
    const { port, url } = this.server
    await context.addCookies([{ name: `parley-${port}`, value: this.server.token(role), url, sameSite: 'Strict' }])
  }

  /** One that the server does not know. */
  async stranger({ viewport = DESKTOP, colorScheme = 'light' }: Look = {}): Promise<Page> {
    const page = idle.pop() ?? (await (await this.#context()).newPage())
    this.#later(() => this.#clean(page))
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    return this.#watch(page)
  }

  /** One tab more of a device. */
  async tab(context: BrowserContext): Promise<Page> {
    return this.#watch(await context.newPage())
  }

  #watch(page: Page): Page {
    // What does not come is named by the locator that waits for it.
    page.setDefaultTimeout(30_000)
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) this.complaints.push(message.text())
    })
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('request', (request) => this.requested.add(request.url()))
    return page
  }

  /** Opens a new session on a page that may be new itself. */
  async newSession(page: Page, firstPrompt = ''): Promise<void> {
    const sessionId = await this.server.newSession(firstPrompt)
    await page.goto(`${this.server.url}?session=${sessionId}`)
    await page.locator('.composer textarea').waitFor()
  }

  /** Makes a session by the page's own form. */
  async newSessionByForm(page: Page, firstPrompt = ''): Promise<void> {
    await page.goto(`${this.server.url}?new`)
    await page.getByLabel('Directory on the server').fill(this.server.work)
    await page.getByLabel('First prompt').fill(firstPrompt)
    await page.getByRole('button', { name: 'Start session' }).click()
    await page.getByLabel('Message to the agent').waitFor()
  }

  /** The browser stays, and what the next file can use of its devices. */
  async close(): Promise<void> {
    for (const end of this.#ends.reverse()) await end()
  }

  /** At the end of the test, or of the stage where no test runs. */
  #later(clean: () => Promise<void>): void {
    if (!this.#atEndOfTest(clean)) this.#ends.push(clean)
  }

  #context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.browser.newContext({
      viewport: DESKTOP,
      locale: 'en-GB',
      // What it kept of the page would not be asked for again.
      serviceWorkers: 'block',
      ...options,
    })
  }

  /** For the next test; a device whose server is away is given up. */
  async #clean(page: Page): Promise<void> {
    const context = page.context()
    try {
      for (const other of context.pages()) if (other !== page) await other.close()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      for (const event of ['console', 'pageerror', 'request', 'websocket'] as const) page.removeAllListeners(event)
      // The process stays for what is of the same server.
      await page.goto(`${this.server.url}icon.svg`)
      await page.evaluate(() => [localStorage, sessionStorage].forEach((storage) => storage.clear()))
      await context.clearCookies()
      idle.push(page)
    } catch {
      await context.close()
    }
  }
}
