/** The page in a real browser before a real server. One server for a file; the files of a worker share a browser and its devices. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
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

/** What the files of a worker share, since to start one costs as much as several tests; it ends with the worker. */
let shared: Promise<Browser> | undefined
/** Devices of tests that are over, in whichever file. */
const idle: Page[] = []

async function browserHere(): Promise<Browser> {
  const executablePath = browserPath(process.env)
  if (executablePath === undefined) throw new Error(NO_BROWSER)
  return openBrowser(executablePath)
}

export class PageStage {
  readonly server: PageServer
  readonly browser: Browser
  /** What no page may ever say: errors, refused content, exceptions that nobody caught. */
  readonly complaints: string[] = []
  /** Addresses that pages have asked for. */
  readonly requested = new Set<string>()
  /** Of tests that are over, each with the page of this server in it, signed in: to load it costs more than most tests. */
  readonly #warm: Page[] = []
  /** Given as devices of an admin. */
  readonly #admins = new Set<Page>()

  /** Calls what it is given when the test that runs now is over, if one does. */
  readonly #atEndOfTest: (clean: () => Promise<void>) => boolean
  /** What ends with the stage, the last one first. */
  readonly #ends: (() => Promise<void>)[]

  private constructor(server: PageServer, browser: Browser, atEndOfTest: (clean: () => Promise<void>) => boolean) {
    this.server = server
    this.browser = browser
    this.#atEndOfTest = atEndOfTest
    this.#ends = [() => server.close(), () => this.#coolDown()]
  }

  /** For a script, with a browser of its own. */
  static async openAlone(steps: readonly Step[] = []): Promise<PageStage> {
    const [server, browser] = await Promise.all([PageServer.start(steps), browserHere()])
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
    const { TestRunner, onTestFinished } = await import('vitest')
    shared ??= browserHere()
    const [server, browser] = await Promise.all([PageServer.start(steps, environment), shared])
    return new PageStage(server, browser, (clean) => {
      if (TestRunner.getCurrentTest() === undefined) return false
      onTestFinished(clean)
      return true
    })
  }

  /**
   * A device that the server knows by its cookie, perhaps one of an earlier test of this file, whose page is still there; it
   * stores nothing more of that test. What cannot be undone, as init scripts and WebSocket routes, needs `newDevice`.
   */
  async device(look: Look = {}): Promise<Page> {
    const page = this.#warm.pop()
    if (page !== undefined) return this.#given(page, look)
    const cold = await this.stranger(look)
    await this.admit(cold.context())
    this.#admins.add(cold)
    return cold
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
  async admit(context: BrowserContext): Promise<void> {
    const { port, url } = this.server
    await context.addCookies([{ name: `parley-${port}`, value: this.server.token('admin'), url, sameSite: 'Strict' }])
  }

  /** One that the server does not know. */
  async stranger(look: Look = {}): Promise<Page> {
    return this.#given(idle.pop() ?? (await (await this.#context()).newPage()), look)
  }

  async #given(page: Page, { viewport = DESKTOP, colorScheme = 'light' }: Look): Promise<Page> {
    this.#later(() => this.#clean(page))
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    return this.#watch(page)
  }

  /** Goes to this address of the server, by the page itself where it is there already. */
  async show(page: Page, address = ''): Promise<void> {
    const url = new URL(address, this.server.url).href
    if (!(await this.#isThere(page))) return void (await page.goto(url))
    await page.evaluate((url) => {
      history.pushState('ours', '', url)
      dispatchEvent(new PopStateEvent('popstate'))
    }, url)
  }

  /** Whether the page is connected, and in the language of the tests. */
  async #isThere(page: Page): Promise<boolean> {
    if (!page.url().startsWith(this.server.url)) return false
    return page.evaluate(
      () =>
        document.documentElement.lang === 'en' &&
        document.querySelector('.panes') !== null &&
        document.querySelector('.offline, .toast') === null,
    )
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
    await this.show(page, `?session=${await this.server.newSession(firstPrompt)}`)
    await page.locator('.composer textarea').waitFor()
  }

  /** Makes a session by the page's own form. */
  async newSessionByForm(page: Page, firstPrompt = ''): Promise<void> {
    await this.show(page, '?new')
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
      const isWarm = this.#admins.has(page) && (await this.#isThere(page))
      // Else the process stays for what is of the same server.
      await (isWarm ? this.show(page) : page.goto(`${this.server.url}icon.svg`))
      await page.evaluate(() => {
        for (const storage of [localStorage, sessionStorage]) storage.clear()
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      })
      if (isWarm) return void this.#warm.push(page)
      this.#admins.delete(page)
      await context.clearCookies()
      idle.push(page)
    } catch {
      await context.close()
    }
  }

  /** Other files have servers of their own. */
  async #coolDown(): Promise<void> {
    for (const page of this.#warm.splice(0)) {
      await page.goto(`${this.server.url}icon.svg`)
      await page.context().clearCookies()
      idle.push(page)
    }
  }
}
