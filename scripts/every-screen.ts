/** Pictures of every screen of the page at five widths, light and dark, in English and Chinese: for eyes, before a release. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Step } from '../test/page/server.ts'
import { PageStage } from '../test/page/stage.ts'

const LANGUAGES = { en: 'en-GB', zh: 'zh-CN' } as const
const SCHEMES = ['light', 'dark'] as const
/** A context is a phone or a desktop, as touch changes the sizes of what is pressed. */
const DEVICES = [
  {
    sizes: [
      [320, 640],
      [390, 844],
    ],
    options: { hasTouch: true, isMobile: true },
  },
  {
    sizes: [
      [768, 1024],
      [1280, 800],
      [1920, 1080],
    ],
    options: {},
  },
] as const

const ASKED = {
  permission: {
    title: 'npm test -- --run relay && git push --force-with-lease origin main',
    toolCallId: 'run',
    kind: 'execute',
    options: [
      { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'always', name: 'Always allow `npm test` in this session', kind: 'allow_always' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
    rawInput: { command: 'npm test -- --run relay && git push --force-with-lease origin main' },
  },
}

const ANSWER = `## What was wrong

The relay keeps **a cursor** for each session, and resumes \`after\` the last entry that was *sent*. See [the protocol](https://example.com/protocol).

1. first the test that fails
2. then \`resume()\`
   - and its twin

> A reader joins at a cursor and misses nothing.

\`\`\`ts
function resume(cursor: number): Stream {
  const last = shown.at(-1) // the last entry that the client has really shown, not the last that was sent to it
  return open(last ?? cursor)
}
\`\`\`

| file | lines | what changed |
|---|--:|---|
| src/relay/relay.ts | 212 | the cursor is that of what was shown |
| src/relay/state/open-sessions.ts | 1,024 | one map fewer |

磁盘阵列把多个磁盘组合成一个逻辑卷，见 https://example.com/raid。重建需要一块新的磁盘。

مرحبا بالعالم، هذه جملة من اليمين إلى اليسار. 👩‍👩‍👧‍👦 🏳️‍🌈 ${'averylongwordwithoutanyspace'.repeat(8)}`

const DIFF = {
  toolCallId: 'edit',
  title: 'src/relay/relay.ts',
  kind: 'edit',
  status: 'failed',
  content: [
    {
      type: 'diff',
      path: '/home/ada/app/src/relay/relay.ts',
      oldText: 'resume() {\n  const cursor = seen.at(-1)\n  return open(cursor)\n}\n',
      newText: 'resume() {\n  const cursor = rendered.at(-1)\n  return open(cursor ?? START)\n}\n',
    },
  ],
}
const OUTPUT = `\u001b[32m✓\u001b[39m relay.test.ts \u001b[2m(12)\u001b[22m\n\u001b[31m✗\u001b[39m resume.test.ts: expected 40, found 41\n${'one long line of output '.repeat(12)}\n`
const TALK: readonly Step[] = [
  {
    commands: [
      { name: 'review', description: 'Looks at what has changed', hint: 'a branch' },
      { name: 'compact', description: 'Shortens the context' },
    ],
  },
  { title: 'Fix the relay: it resumes after what was sent and not after what was shown' },
  { thought: 'The cursor is the one of the entry that was sent. It should be the one that was shown.' },
  { toolCall: { toolCallId: 'a', title: 'src/relay/relay.ts', kind: 'read', status: 'completed' } },
  { toolCall: { toolCallId: 'b', title: 'cursor', kind: 'search', status: 'completed' } },
  { toolCall: DIFF },
  {
    toolCall: {
      toolCallId: 't',
      title: 'npm test',
      kind: 'execute',
      status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text: OUTPUT } }],
    },
  },
  {
    plan: [
      { content: 'Look', status: 'completed' },
      { content: 'Write the failing test', status: 'in_progress' },
      'Mend it',
    ],
  },
  { usage: { used: 164_000, size: 200_000, cost: { amount: 1.25, currency: 'USD' } } },
  { chunk: ANSWER },
]
const FORM = {
  message: 'Who signs the release?',
  schema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Your name', minLength: 2, description: 'As it is signed' },
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
      parts: {
        type: 'array',
        title: 'Parts',
        items: { type: 'string', enum: ['client', 'server', 'page'] },
        minItems: 1,
      },
    },
    required: ['name', 'parts'],
  },
}

type Screen = (page: Page) => Promise<void>

export async function everyScreen(directory: string): Promise<void> {
  const fresh = await PageStage.openAlone()
  const pictures = new Pictures(fresh, directory)
  try {
    await pictures.take({ 'first-use': (page) => page.locator('textarea').first().waitFor() })
  } finally {
    await fresh.close()
  }
  const stage = await PageStage.openAlone()
  try {
    await new Pictures(stage, directory).take(await screensOf(stage))
  } finally {
    await stage.close()
  }
}

interface Stories {
  readonly cut: string
  readonly talk: string
  readonly works: string
  readonly asks: string
}

async function screensOf(stage: PageStage): Promise<Readonly<Record<string, Screen>>> {
  const stories = await storiesOf(stage)
  return { ...conversations(stage, stories), ...otherScreens(stage, stories) }
}

async function storiesOf({ server }: PageStage): Promise<Stories> {
  const session = async (steps: readonly Step[], prompt: string, leaves: 'begun' | 'ended' = 'ended') => {
    server.play(steps)
    const id = await server.newSession(prompt, { leaves })
    // The next script is not the one of this turn.
    if (leaves === 'begun') await pause(1_000)
    return id
  }
  // All that runs is interrupted by the kill.
  const cut = await session(
    [{ title: 'Port to HTTP/2' }, { chunk: 'The frames are ' }, { sleepMs: 600_000 }],
    'Port it',
    'begun',
  )
  await server.kill()
  await server.listen()
  await session([{ title: 'Notes on the release' }, { chunk: 'Done.' }], 'Write notes')
  await session([{ title: '磁盘阵列的重建' }, { chunk: '重建需要一块新的磁盘。' }], '磁盘阵列怎么重建？')
  await session([{ fail: 'the model does not answer (503)' }], 'Summarise the meeting')
  const talk = await session(TALK, 'Why does resume lose a chunk?')
  const works = await session(
    [{ title: 'Count the words' }, { chunk: 'word {n} ', times: 100_000, everyMs: 400 }],
    'Count',
    'begun',
  )
  const asks = await session([...TALK.slice(1, 8), ASKED], 'Fix it', 'begun')
  return { cut, talk, works, asks }
}

function goingTo(stage: PageStage, address: string, ready: string): Screen {
  return async (page) => {
    await stage.show(page, address)
    await page.locator(ready).first().waitFor()
  }
}

const WRITE = '.composer textarea'

function conversations(stage: PageStage, { cut, talk, works, asks }: Stories): Readonly<Record<string, Screen>> {
  const at = (id: string) => goingTo(stage, `?session=${id}`, '.rows .row')
  const after =
    (act: Screen): Screen =>
    async (page) => {
      await at(talk)(page)
      await act(page)
    }
  const openMenu: Screen = (page) => page.locator('.session-head .menu summary').click()
  return {
    talk: at(talk),
    'talk-top': after((page) => page.locator('.rows').press('Home')),
    menu: after(openMenu),
    outline: after(async (page) => {
      await openMenu(page)
      await page.locator('.session-head .items button').nth(2).click()
    }),
    find: goingTo(stage, `?session=${talk}&find=relay`, '.rows .row'),
    commands: after((page) => page.locator(WRITE).fill('/')),
    draft: after((page) =>
      page
        .locator(WRITE)
        .fill('A first line\nand a second\nand a third, which is quite a bit longer than the two before it'),
    ),
    permission: async (page) => {
      await at(asks)(page)
      await page.locator('.dock .card').waitFor()
    },
    working: async (page) => {
      await at(works)(page)
      await send(page, 'And then the docs, please')
      await page.locator('.queue li').first().waitFor()
    },
    interrupted: at(cut),
    form: async (page) => {
      stage.server.play([{ elicit: FORM }])
      await stage.newSession(page)
      await send(page, 'Ask me.')
      await page.locator('.dock .card').waitFor()
    },
  }
}

/** By a button: on a phone the key breaks the line. */
async function send(page: Page, text: string): Promise<void> {
  await page.locator(WRITE).fill(text)
  await page.locator('.composer .send').click()
}

function otherScreens(stage: PageStage, { talk }: Stories): Readonly<Record<string, Screen>> {
  const { server } = stage
  const to = (address: string, ready: string) => goingTo(stage, address, ready)
  return {
    list: to('', '.list li'),
    'list-none-fits': to('?text=nothing-like-this', '.panes'),
    new: to('?new', 'form textarea'),
    search: to('?search=relay', 'main li'),
    'search-chinese': to(`?search=${encodeURIComponent('磁盘')}`, 'main li'),
    'search-nothing': to('?search=zzzz', 'main'),
    access: to('?access', 'main h2'),
    'access-device': async (page) => {
      await to('?access', 'main h2')(page)
      await page.locator('main details summary').first().click()
      await page.locator('main details form button').first().click()
      await page.locator('.made').waitFor()
    },
    share: to(`?access=${talk}`, 'main h2'),
    shortcuts: async (page) => {
      await to('', '.list li')(page)
      await page.keyboard.press('?')
    },
    gone: to('?session=none', '.loading button'),
    offline: async (page) => {
      let cut = (): void => undefined
      await page.routeWebSocket(/\/acp$/u, (socket) => {
        socket.connectToServer()
        cut = () => void socket.close({ code: 1012 })
      })
      await page.goto(`${server.url}?session=${talk}`)
      await page.locator('.rows .row').first().waitFor()
      await page.context().setOffline(true)
      cut()
      await page.locator('.offline').waitFor()
    },
    stranger: async (page) => {
      await page.context().setOffline(false)
      await page.context().clearCookies()
      await page.goto(server.url)
      await page.locator('.pairing').waitFor()
    },
  }
}

class Pictures {
  readonly #stage: PageStage
  readonly #directory: string

  constructor(stage: PageStage, directory: string) {
    this.#stage = stage
    this.#directory = directory
    mkdirSync(directory, { recursive: true })
  }

  async take(screens: Readonly<Record<string, Screen>>): Promise<void> {
    for (const [language, locale] of Object.entries(LANGUAGES)) {
      for (const { sizes, options } of DEVICES) {
        const [[width, height]] = sizes
        const page = await this.#stage.newDevice({ locale, viewport: { width, height }, ...options })
        await page.goto(this.#stage.server.url)
        for (const [name, show] of Object.entries(screens))
          await this.#screen(page, { name: `${name}-${language}`, show, sizes })
        await page.context().close()
      }
    }
  }

  async #screen(
    page: Page,
    {
      name,
      show,
      sizes,
    }: { readonly name: string; readonly show: Screen; readonly sizes: readonly (readonly [number, number])[] },
  ): Promise<void> {
    try {
      // What the last one opened.
      await page.keyboard.press('Escape')
      await show(page)
    } catch (error) {
      console.error(`${name}: ${String(error).split('\n')[0]}`)
    }
    for (const [width, height] of sizes) {
      await page.setViewportSize({ width, height })
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme })
        await page.waitForTimeout(150)
        await page.screenshot({ path: join(this.#directory, `${name}-${width}-${colorScheme}.png`) })
      }
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
      if (isWide === true) console.error(`${name}-${width}: the page is wider than the screen`)
    }
    const [[width, height] = [0, 0]] = sizes
    await page.setViewportSize({ width, height })
  }
}
