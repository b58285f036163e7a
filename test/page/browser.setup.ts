/** The one browser of all tests of the page: to start one costs as much as a dozen tests. */
import { type BrowserServer, chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { browserPath, launchOptions } from '../docs-search/page/look.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser is reached; empty where there is none. */
    readonly browser: string
  }
}

/** vitest calls this before the first test file, and what it returns after the last. */
export async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const executablePath = browserPath(process.env)
  provide('browser', '')
  if (executablePath === undefined) return undefined
  const server: BrowserServer = await chromium.launchServer({ ...launchOptions(executablePath), host: '127.0.0.1' })
  provide('browser', server.wsEndpoint())
  return () => server.close()
}
