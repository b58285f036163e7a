/** Looks at every kind of page in a real browser: light and dark, desktop and phone, with axe, the keyboard, and without script. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

export interface Sight {
  readonly name: string
  readonly path: string
  /** Whether one is signed in there. */
  readonly stranger?: boolean
}

export interface Screen {
  readonly scheme: 'light' | 'dark'
  readonly width: number
}

export const SCREENS: readonly Screen[] = (['light', 'dark'] as const).flatMap((scheme) => [
  { scheme, width: 1280 },
  { scheme, width: 390 },
])

/** The same engine without windows: a page costs a quarter less in it. */
const SHELL = 'chromium-headless-shell'
const NAMES = [SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge']
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/**
 * CHROME_PATH, a browser on the PATH, or one that playwright has put away; undefined where there is none. `whole`: one that
 * shows notifications, too.
 */
export function browserPath({ CHROME_PATH, PATH = '' }: NodeJS.ProcessEnv, whole = false): string | undefined {
  const onPath = NAMES.filter((name) => !whole || name !== SHELL).flatMap((name) =>
    PATH.split(delimiter).map((folder) => join(folder, name)),
  )
  return [CHROME_PATH ?? '', ...onPath, chromium.executablePath()].find((path) => path !== '' && existsSync(path))
}

export const HOW_TO_GET_ONE =
  'There is no browser to look at the search page with; get one with `apt-get install chromium`, or say where it is in CHROME_PATH.'

export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch(launchOptions(executablePath))
}

/**
 * Without the pages that a browser with windows makes for its address bar, and the process that it starts for the next page:
 * both cost more than most tests. Of several lists the last one counts, so those of playwright's are repeated that matter to
 * a page on loopback, or would ask the network for something.
 */
const OFF =
  'WebUIOmniboxPopup WebUIOmniboxAimPopup SpareRendererForSitePerProcess AimEnabled LensOverlay MediaRouter PaintHolding ' +
  'OptimizationHints NetworkTimeServiceQuerying PreconnectToSearch DestroyProfileOnBrowserClose ThirdPartyStoragePartitioning ' +
  'AvoidUnnecessaryBeforeUnloadCheckSync AvoidCorsURLLoaderRestartOnRedirect'

function launchOptions(executablePath: string): { readonly executablePath: string; readonly args: string[] } {
  // Its sandbox does not run as root, as CI does; it is shown nothing here but our own pages.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return { executablePath, args: [...sandbox, `--disable-features=${OFF.replaceAll(' ', ',')}`] }
}

/** What is wrong with the page that is open, or with this part of it, in lines; empty: nothing. */
export async function faultsOf(page: Page, part = 'html'): Promise<readonly string[]> {
  await page.evaluate('document.fonts.ready')
  // What fades in has too little contrast until it is there. A spinner never ends.
  await page.evaluate(`Promise.all(document.getAnimations()
    .filter((one) => one.effect?.getComputedTiming().endTime !== Infinity).map((one) => one.finished.catch(() => {})))`)
  // The page forbids the scripts of others, so it comes in by the back door; it stays until the page is left.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(await readFile(axe, 'utf8'))
  const { violations } = (await page.evaluate(`axe.run('${part}', { resultTypes: ['violations'] })`)) as Verdict
  const wide = (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) as boolean
  return [
    ...violations.map(
      ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html.slice(0, 100)).join(' · ')})`,
    ),
    ...(wide ? ['the page is wider than the screen'] : []),
  ]
}

interface Verdict {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}
