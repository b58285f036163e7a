/** `npx tsx scripts/page-images.ts [DIRECTORY]`: the pictures of docs/page.md, from a real run of the page; with a directory those of every screen. */
import { fileURLToPath } from 'node:url'
import { everyScreen } from './every-screen.ts'
import { PHONE, PageStage } from '../test/page/stage.ts'

const images = fileURLToPath(new URL('../docs/images/', import.meta.url))
const OPTIONS = [
  { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow this', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]
const ASKS = [
  { title: 'Fix the relay' },
  {
    plan: [
      { content: 'Look', status: 'completed' },
      { content: 'Write the failing test', status: 'in_progress' },
      'Mend',
    ],
  },
  { toolCall: { toolCallId: 'r', title: 'src/relay/relay.ts', kind: 'read' } },
  { toolCall: { toolCallId: 's', title: 'cursor', kind: 'search' } },
  { chunk: 'A chunk that is on its way counts as **seen** too early, so the relay resumes after it.\n\n' },
  {
    toolCall: {
      toolCallId: 'e',
      title: 'src/relay/relay.ts',
      kind: 'edit',
      content: [
        {
          type: 'diff',
          path: '/home/ada/app/src/relay/relay.ts',
          oldText: 'resume() {\n  const cursor = seen.at(-1)\n  return open(cursor)\n}\n',
          newText: 'resume() {\n  const cursor = rendered.at(-1)\n  return open(cursor)\n}\n',
        },
      ],
    },
  },
  { usage: { used: 82_000, size: 200_000 } },
  {
    permission: {
      title: 'Run the tests',
      toolCallId: 't',
      kind: 'execute',
      options: OPTIONS,
      rawInput: { command: 'npm test -- --run relay' },
    },
  },
  { chunk: 'The test passes now.' },
]

async function documentImages(): Promise<void> {
  const stage = await PageStage.openAlone()
  try {
    for (const title of ['Notes on the release', 'Port to HTTP/2']) {
      stage.server.play([{ title }, { chunk: 'Done.' }])
      const page = await stage.device()
      await stage.newSession(page, title)
      await page.getByText('Done.').waitFor()
    }
    stage.server.play(ASKS)
    const desktop = await stage.newDevice({ viewport: { width: 1180, height: 740 } })
    await stage.newSession(desktop, 'Why does resume lose a chunk?')
    await desktop.locator('.dock .card').waitFor()
    await desktop.locator('.diff').waitFor()
    await desktop.mouse.move(0, 0)
    await desktop.screenshot({ path: `${images}page.png` })

    const phone = await stage.newDevice({ viewport: PHONE, colorScheme: 'dark', hasTouch: true, isMobile: true })
    await phone.goto(desktop.url())
    await phone.locator('.dock .card').waitFor()
    await phone.locator('.diff').waitFor()
    await phone.screenshot({ path: `${images}page-phone.png` })
    await phone.goto(stage.server.url)
    await phone.locator('.list li').first().waitFor()
    await phone.screenshot({ path: `${images}page-phone-list.png` })
  } finally {
    await stage.close()
  }
}

const [directory] = process.argv.slice(2)
await (directory === undefined ? documentImages() : everyScreen(directory))
process.exit()
