/** The page in a real browser before a real server. One server for a file; the files of a worker share a browser and its devices. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { browserPath, openBrowser } from '../docs-search/page/look.ts'
import { PageServer, type ServerOptions, type Step } from './server.ts'

export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 844 }

/** A browser may never say that it has closed a page that was being loaded anew; its device is given up. */
const CLOSE_MS = 10_000

/** A server that is gone and a device that is not known are said by the browser itself. */
const EXPECTED = /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET|WebSocket connection to|status of (?:40[146]|502)/u

const NO_BROWSER = 'There is no browser; get one with `apt-get install chromium`, or say where it is in CHROME_PATH.'

export interface Look {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
}

/** What the files of a worker share, since to start one costs as much as several tests; they end with the worker. */
let shared: Promise<Browser> | undefined
let sharedWhole: Promise<Browser> | undefined
/** Devices of tests that are over, in whichever file. */
const idle: Page[] = []
/** For files that do not mind sessions of others, with its devices. It ends with the worker. */
let common: Promise<{ readonly server: PageServer; readonly warm: Page[] }> | undefined
/** Given as devices of an admin. */
const admins = new WeakSet<Page>()
/** To whom it matters what pages of a device say. */
const watchers = new WeakMap<BrowserContext, PageStage>()
const dark = new WeakSet<Page>()

async function browserHere(whole = false): Promise<Browser> {
  const executablePath = browserPath(process.env, whole)
  if (executablePath === undefined) throw new Error(NO_BROWSER)
  return openBrowser(executablePath)
}

interface Surroundings {
  readonly server: PageServer
  readonly browser: Browser
  readonly warm: Page[]
  /** Calls what it is given when the test that runs now is over, if one does. */
  readonly atEndOfTest: (clean: () => Promise<void>) => boolean
}

export class PageStage {
  readonly server: PageServer
  readonly browser: Browser
  /** What no page may ever say: errors, refused content, exceptions that nobody caught. */
  readonly complaints: string[] = []
  /** Addresses that pages have asked for. */
  readonly requested = new Set<string>()
  /** Of tests that are over, each with the page of this server in it, signed in: to load it costs more than most tests. */
  readonly #warm: Page[]

  readonly #atEndOfTest: Surroundings['atEndOfTest']
  /** What ends with the stage, the last one first. */
  readonly #ends: (() => Promise<void>)[] = []

  private constructor({ server, browser, warm, atEndOfTest }: Surroundings) {
    this.server = server
    this.browser = browser
    this.#warm = warm
    this.#atEndOfTest = atEndOfTest
  }

  /** For a script, with a browser of its own. */
  static async openAlone(steps: readonly Step[] = []): Promise<PageStage> {
    const [server, browser] = await Promise.all([PageServer.start(steps, { hasProcess: true }), browserHere()])
    // Its devices end with the browser.
    const stage = new PageStage({ server, browser, warm: [], atEndOfTest: () => true })
    stage.#ends.push(
      () => server.close(),
      () => browser.close(),
    )
    return stage
  }

  /** For the tests of a file. */
  static async open(steps: readonly Step[] = [], options: ServerOptions = {}): Promise<PageStage> {
    const stage = await PageStage.#forTests(await PageServer.start(steps, options), [])
    stage.#ends.push(
      () => stage.server.close(),
      () => stage.#coolDown(),
    )
    return stage
  }

  /** For the tests of a file that may find sessions of other files, and kills nothing. */
  static async openCommon(): Promise<PageStage> {
    common ??= PageServer.start().then((server) => ({ server, warm: [] }))
    const { server, warm } = await common
    return PageStage.#forTests(server, warm)
  }

  static async #forTests(server: PageServer, warm: Page[]): Promise<PageStage> {
    // A script has no test runner to load.
    const { TestRunner, onTestFinished } = await import('vitest')
    const atEndOfTest = (clean: () => Promise<void>): boolean => {
      if (TestRunner.getCurrentTest() === undefined) return false
      onTestFinished(clean)
      return true
    }
    return new PageStage({ server, browser: await (shared ??= browserHere()), warm, atEndOfTest })
  }

  /**
   * A device that the server knows by its cookie, perhaps one of an earlier test, whose page is still there; it
   * stores nothing more of that test. What cannot be undone, as init scripts and WebSocket routes, needs `newPage`.
   */
  async device(look: Look = {}): Promise<Page> {
    const page = this.#warm.pop()
    if (page !== undefined) return this.#given(page, look)
    const cold = await this.stranger(look)
    await this.admit(cold.context())
    admins.add(cold)
    return cold
  }

  /** A page that nothing is in yet, of a device that does nothing else. */
  async newPage(): Promise<Page> {
    return this.tab((await this.device()).context())
  }

  /** Such a page whose timers are ten times as fast, which does not change what the clock says. */
  async hurriedPage(): Promise<Page> {
    const page = await this.newPage()
    await page.addInitScript(hurry)
    return page
  }

  /** A browser of its own that the server knows. */
  async newDevice(options: BrowserContextOptions = {}): Promise<Page> {
    const tells = options.permissions?.includes('notifications') === true
    const context = await this.#context(options, tells ? await (sharedWhole ??= browserHere(true)) : this.browser)
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
    const { width, height } = page.viewportSize() ?? {}
    if (width !== viewport.width || height !== viewport.height) await page.setViewportSize(viewport)
    if (dark.has(page) !== (colorScheme === 'dark')) await page.emulateMedia({ colorScheme })
    if (colorScheme === 'dark') dark.add(page)
    else dark.delete(page)
    watchers.set(page.context(), this)
    return page
  }

  /** Goes to this address of the server, by the page itself where it is there already. */
  async show(page: Page, address = ''): Promise<void> {
    const url = new URL(address, this.server.url).href
    if (!(await page.evaluate(goTo, { url, language: '' }))) await page.goto(url)
  }

  /** One tab more of a device. */
  async tab(context: BrowserContext): Promise<Page> {
    return context.newPage()
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

  async #context(options: BrowserContextOptions = {}, browser = this.browser): Promise<BrowserContext> {
    const context = await browser.newContext({
      viewport: DESKTOP,
      locale: 'en-GB',
      // What it kept of the page would not be asked for again.
      serviceWorkers: 'block',
      ...options,
    })
    watchers.set(context, this)
    // What does not come is named by the locator that waits for it.
    context.setDefaultTimeout(30_000)
    const complain = (what: string) => watchers.get(context)?.complaints.push(what)
    context.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) complain(message.text())
    })
    context.on('weberror', (error) => complain(String(error.error())))
    context.on('request', (request) => watchers.get(context)?.requested.add(request.url()))
    return context
  }

  /** For the next test; a device whose server is away is given up. */
  async #clean(page: Page): Promise<void> {
    const context = page.context()
    try {
      for (const other of context.pages()) if (other !== page) await closeInTime(other)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      for (const event of ['console', 'websocket'] as const) page.removeAllListeners(event)
      const isWarm = admins.has(page) && (await page.evaluate(goTo, { url: this.server.url, language: 'en' }))
      // The process stays for what is of the same server.
      const cold = `${this.server.url}icon.svg`
      if (!isWarm && page.url() !== cold) await page.goto(cold)
      await page.evaluate(() => {
        for (const storage of [localStorage, sessionStorage]) storage.clear()
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      })
      if (isWarm) return void this.#warm.push(page)
      admins.delete(page)
      await context.clearCookies()
      idle.push(page)
    } catch {
      void context.close().catch(() => undefined)
    }
  }

  /** Other files have servers of their own. */
  async #coolDown(): Promise<void> {
    for (const page of this.#warm.splice(0)) {
      await page.goto(`${this.server.url}icon.svg`)
      await page.context().clearCookies()
      admins.delete(page)
      idle.push(page)
    }
  }
}

async function closeInTime(page: Page): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the page does not close')), CLOSE_MS)
  })
  await Promise.race([page.close(), late]).finally(() => clearTimeout(timer))
}

/** Runs in the page: whether it is connected, in this language if any, and so shows the address by itself. */
async function goTo({ url, language }: { readonly url: string; readonly language: string }): Promise<boolean> {
  const isThere =
    url.startsWith(`${location.origin}/`) &&
    (language === '' || document.documentElement.lang === language) &&
    document.querySelector('.panes') !== null &&
    document.querySelector('.offline, .toast') === null
  if (!isThere) return false
  history.pushState('ours', '', url)
  dispatchEvent(new PopStateEvent('popstate'))
  // What stood there before is gone then, what stands there now has its focus and hears keys. A page behind another paints nothing.
  await Promise.race([
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    new Promise((resolve) => setTimeout(resolve, 200)),
  ])
  await new Promise((resolve) => setTimeout(resolve))
  return true
}

/** Runs in the page before its own scripts. */
export function hurry(): void {
  const [after, signalAfter] = [setTimeout, AbortSignal.timeout.bind(AbortSignal)]
  Object.assign(globalThis, { setTimeout: (run: () => void, ms = 0) => after(run, ms / 10) })
  AbortSignal.timeout = (ms) => signalAfter(ms / 10)
}
