/** `npm run eval -- page`: the search page in a real browser, page by page; fails where axe, the keyboard or a page finds fault. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type DocsServer, openDocsServer } from '../../../src/docs-search/server.ts'
import { setup as build } from '../../build.setup.ts'
import { browserPath, faultsOf, HOW_TO_GET_ONE, openBrowser, type Screen, SCREENS, type Sight } from './look.ts'

const { values } = parseArgs({ options: { shots: { type: 'string' }, help: { type: 'boolean', default: false } } })
const USAGE = `npm run eval -- page [--shots DIR]
  --shots  keeps a picture of each page there`

const KEY = 'a-key-for-looking-only'
const HOSTILE = '"><img src=x onerror=alert(1)>.md'
const FILES: Readonly<Record<string, string>> = {
  'notes/setup.md': `# Setting up a session server\n\nA **session server** keeps conversations.\n\n${'## On Linux\n\nRun it.\n\n```sh\nnpm ci\n\nnpm start\n```\n\n- a session\n- a server\n\n#### Deep\n\n| a | b |\n|---|---|\n| session | 1 |\n\n'.repeat(3)}`,
  'notes/markdown.md': `# A guide to Markdown\n\nA **bold session**, an *italic* one, \`code session\` and ~~old~~ &amp; more, with [a link](https://there.example/) and [another](setup.md).\n\n- one session\n  - inner session\n- [x] done\n\n3. third\n4. fourth\n\n> a quoted session\n> goes on\n\n| name | what it means | default |\n|------|-------|-----|\n| session | how long a session is kept, in hours, before it is closed | \`12\` |\n| port | where the server listens | \`8080\` |\n\n---\n\n\`\`\`sh\nnpm start -- --session\n\`\`\`\n\n![a picture](https://there.example/p.png) <b>html</b>\n`,
  'notes/磁盘阵列.md': '# 磁盘阵列入门\n\n磁盘阵列把多个磁盘组合成一个逻辑卷。\n\n## 重建\n\n用新的磁盘重建阵列。\n',
  [`notes/${HOSTILE}`]: '# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)> session\n',
  'notes/server.ts': '/** Serves a session. */\nexport const port = 1\n',
  'books/long.md': `# A long book\n\n${Array.from({ length: 60 }, (_, i) => `## Chapter ${i}\n\n${'a session of words '.repeat(120)}\n`).join('\n')}`,
  ...Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`books/${i}.txt`, `Chapter ${i}\n\na session of many\n`]),
  ),
}

const SIGHTS: readonly Sight[] = [
  { name: 'sign-in', path: '/?q=session', stranger: true },
  { name: 'start', path: '/' },
  { name: 'results', path: '/?q=session+server' },
  { name: 'results-chinese', path: `/?q=${encodeURIComponent('磁盘阵列')}` },
  { name: 'second-page', path: '/?q=session&page=2' },
  { name: 'hostile', path: '/?q=alert' },
  { name: 'nothing', path: '/?q=absent&mode=all&in=notes' },
  { name: 'unaskable', path: '/?q=...' },
  { name: 'missing', path: '/doc/notes/absent.md' },
  { name: 'collection', path: '/in/books' },
  { name: 'document', path: '/doc/notes/setup.md?q=session+server&line=1#L1' },
  { name: 'document-markdown', path: '/doc/notes/markdown.md?q=session' },
  { name: 'results-markdown', path: '/?q=guide+markdown+session' },
  { name: 'document-chinese', path: `/doc/notes/${encodeURIComponent('磁盘阵列.md')}?q=${encodeURIComponent('阵列')}` },
  { name: 'document-hostile', path: `/doc/notes/${encodeURIComponent(HOSTILE)}?q=session` },
  { name: 'document-code', path: '/doc/notes/server.ts?q=session' },
  { name: 'document-long', path: '/doc/books/long.md?q=session&part=2' },
]

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const path = browserPath(process.env)
  if (path === undefined) {
    console.error(HOW_TO_GET_ONE)
    return 1
  }
  await build()
  const directory = await mkdtemp(join(tmpdir(), 'parley-look-'))
  try {
    return await looked(directory, path)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function looked(directory: string, path: string): Promise<number> {
  const server = await served(directory)
  const browser = await openBrowser(path)
  try {
    const faults: string[] = []
    for (const screen of SCREENS) faults.push(...(await lookWith(browser, server, screen)))
    faults.push(...(await keyboard(browser, server)), ...(await withoutScript(browser, server)))
    for (const fault of faults) console.error(fault)
    console.log(`${SIGHTS.length} pages on ${SCREENS.length} screens, ${faults.length} faults`)
    return faults.length === 0 ? 0 : 1
  } finally {
    await Promise.all([browser.close(), server.close()])
  }
}

async function served(directory: string): Promise<DocsServer> {
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(directory, file)), { recursive: true })
    await writeFile(join(directory, file), text)
  }
  return openDocsServer({
    directories: [join(directory, 'notes'), join(directory, 'books')],
    keys: [KEY],
    workerUrl: new URL('../../../dist/docs-worker.cjs', import.meta.url),
    name: 'look',
    version: '0',
    log: (line) => console.error(line),
    code: true,
  })
}

async function lookWith(browser: Browser, server: DocsServer, { scheme, width }: Screen): Promise<readonly string[]> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: width > 600 ? 900 : 844 },
  })
  const page = await context.newPage()
  const faults: string[] = []
  const fault = (what: string) => faults.push(`${page.url()} ${scheme} ${width}: ${what}`)
  page.on('dialog', (dialog) => void dialog.dismiss().finally(() => fault('a script of a document ran')))
  page.on('pageerror', (error) => fault(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) fault(message.text())
  })
  for (const { name, path, stranger } of SIGHTS) {
    if (stranger === true) await context.clearCookies()
    else await signedIn(context, page, server)
    await page.goto(new URL(path, server.page).href)
    for (const what of await faultsOf(page)) fault(what)
    if (values.shots !== undefined)
      await page.screenshot({ path: join(values.shots, `${name}-${width}-${scheme}.png`) })
  }
  await context.close()
  return faults
}

async function signedIn(context: BrowserContext, page: Page, server: DocsServer): Promise<void> {
  if ((await context.cookies()).length > 0) return
  await page.goto(server.page)
  await page.fill('#parley-key', KEY)
  await page.press('#parley-key', 'Enter')
  await page.waitForSelector('#parley-q')
}

/** From the key to a passage without a pointer. */
async function keyboard(browser: Browser, server: DocsServer): Promise<readonly string[]> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(server.page)
  await page.keyboard.type(KEY)
  await page.keyboard.press('Enter')
  await page.waitForSelector('#parley-q')
  await page.goto(new URL('/in/books', server.page).href)
  await page.keyboard.press('/')
  await page.keyboard.type('重建阵列')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.results')
  await page.keyboard.press('Tab')
  const skips = await page.evaluate('document.activeElement.className')
  await page.focus('.results a')
  await page.keyboard.press('Enter')
  await page.waitForSelector('article.reading')
  const marked = await page.locator('mark').count()
  await context.close()
  return [
    ...(skips === 'skip' ? [] : ['the first Tab does not offer to skip to the content']),
    ...(marked > 0 ? [] : ['nothing is marked']),
  ]
}

async function withoutScript(browser: Browser, server: DocsServer): Promise<readonly string[]> {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await signedIn(context, page, server)
  await page.fill('#parley-q', 'session')
  await page.check('input[value="phrase"]')
  await page.selectOption('select', 'books')
  await page.click('search button')
  await page.click('.results a')
  const open = await page.locator('details.outline[open], article.reading').count()
  await page.click('.name button')
  const out = await page.locator('#parley-key').count()
  await context.close()
  return open > 0 && out === 1 ? [] : ['without script something is missing']
}

process.exitCode = await main()
