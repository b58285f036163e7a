/** Rules on paths hold wherever a tool of our own comes upon a place: in a list, in a search, behind a link, and while links are swapped. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { clientHere } from '../e2e/hosted-server.ts'
import { freshDirectory, newSession, promptOf } from '../e2e/parley.ts'
import type { Fields } from '../e2e/message.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import type { Asked, Saying } from '../model-server/script.ts'
import { startModelServer } from '../model-server/server.ts'

const LIMIT = { timeout: 60_000 }
const SECRET = 'hunter2'

const opened = new PerTest<() => unknown>(async (all) => {
  for (const close of all.toReversed()) await close()
})
opened.closeAfterEach()

interface Told {
  /** What the model was told of each call. */
  readonly results: readonly string[]
  /** The titles of what was asked about. */
  readonly asked: readonly unknown[]
}

/** What a model learns that is allowed everything but what the rules say, and whose every question is answered with yes. */
async function tried(
  rules: string,
  calls: readonly (readonly Saying[])[] | ((asked: Asked) => readonly Saying[]),
): Promise<Told> {
  const server = await startModelServer(typeof calls === 'function' ? calls : [...calls, [{ text: 'Done.' }]])
  const directory = freshDirectory()
  const [home, cwd] = [join(directory, 'home'), join(directory, 'work')]
  write(join(home, 'config', 'parley', 'parley.toml'), `[permissions]\n${rules}\n`)
  for (const path of ['.env', 'sub/.env.local', 'vault/key.txt', 'private/note.txt', 'sub/private/note.txt'])
    write(join(cwd, path), `it is ${SECRET}\n`)
  write(join(cwd, 'plain.txt'), `it is open\n`)
  symlinkSync('.env', join(cwd, 'harmless.txt'))
  symlinkSync('vault', join(cwd, 'secrets'))
  symlinkSync('vault', join(cwd, 'alias'))
  const env = { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${server.url}/v1`, PARLEY_MODEL_TITLES: 'false' }
  const client = await clientHere({ home, agent: 'model:openai:scripted', env })
  opened.add(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  opened.add(() => server.close())
  opened.add(() => client.kill())
  const asked: unknown[] = []
  client.listen(({ id, method, params }) => {
    if (method !== 'session/request_permission') return
    asked.push((params?.['toolCall'] as Fields | undefined)?.['title'])
    client.reply(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
  })
  const sessionId = await newSession(client, cwd)
  await client.request('session/set_mode', { sessionId, modeId: 'allow-all' })
  const { result } = await client.request('session/prompt', promptOf(sessionId, 'go'))
  expect(result).toEqual({ stopReason: 'end_turn' })
  const messages = server.requests.at(-1)?.messages ?? []
  return { results: messages.flatMap((message) => message.results.map(({ text }) => text)), asked }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const everywhere: readonly Saying[] = [
  { call: 'search_text', args: { pattern: 'it is', ignored: true } },
  { call: 'search_text', args: { pattern: 'it .s', glob: '**/.env*' } },
  { call: 'find_files', args: { pattern: '**', ignored: true } },
  { call: 'list_directory', args: { depth: 8, ignored: true } },
]

test.concurrent('what a rule denies is in no list and in no search, whatever links lead there', LIMIT, async () => {
  const links: readonly Saying[] = [
    ...['harmless.txt', 'alias/key.txt', 'secrets/key.txt', 'vault/key.txt'].map((path) => ({
      call: 'read_file',
      args: { path },
    })),
    ...['harmless.txt', 'alias', 'secrets', 'vault'].map((path) => ({
      call: 'search_text',
      args: { pattern: 'it', path },
    })),
    { call: 'write_file', args: { path: 'alias/new.txt', content: 'x' } },
  ]
  const rules = 'deny = [{ path = ".env*" }, { path = "secrets" }, { path = "private/**" }]'
  const { results, asked } = await tried(rules, [everywhere, links])
  const [searched, inNames, found, listed, ...behind] = results
  expect(searched).toContain('plain.txt:1:it is open')
  expect(searched).toContain('sub/private/note.txt')
  expect(inNames).toContain('No line matches')
  for (const text of [searched, found, listed]) {
    expect(text).toMatch(/\[Left out, because rules deny them: \d\.\]/u)
    expect(text).not.toMatch(/\.env|key\.txt/u)
  }
  expect(behind).toHaveLength(links.length)
  for (const text of behind) expect(text).toMatch(/^Not allowed: rule “deny path /u)
  expect(results.join('\n').replace(`sub/private/note.txt:1:it is ${SECRET}`, '')).not.toContain(SECRET)
  expect(asked).toEqual([])
})

test.concurrent(
  'what a rule asks about is named by lists and left out of searches, until it is named and allowed',
  LIMIT,
  async () => {
    const { results, asked } = await tried('ask = [{ path = "/private" }]', [
      everywhere,
      [{ call: 'search_text', args: { pattern: 'it is', path: 'private' } }],
    ])
    const [searched, , found, listed, named] = results
    expect(searched).toContain('sub/private/note.txt')
    expect(searched).not.toContain('\nprivate/note.txt')
    expect(searched).toContain('[Left out, because they are asked about: 1. Name one as path to have it asked.]')
    expect(found).toContain('private/note.txt')
    expect(listed).toContain('note.txt')
    expect(named).toBe(`note.txt:1:it is ${SECRET}`)
    expect(asked).toEqual(['Search for it is in private'])
  },
)

test.concurrent(
  'a link that is swapped after it was decided on leads to nothing that a rule denies',
  LIMIT,
  async () => {
    // A thousand times a second, until the server has gone and its children with it.
    const swap = [
      "const { renameSync, symlinkSync } = require('fs')",
      'const pause = new Int32Array(new SharedArrayBuffer(4))',
      "for (let at = 0; ; at += 1) symlinkSync(['.env', 'plain.txt'][at % 2], 'd~'), renameSync('d~', 'd'), Atomics.wait(pause, 0, 0, 1)",
    ]
    const command = `'${process.execPath}' -e "${swap.join(';')}"`
    const tries: readonly Saying[] = Array.from({ length: 60 }, () => ({ call: 'read_file', args: { path: 'd' } }))
    const said = ['it is open', 'Not allowed']
    const isSaid = (texts: readonly string[]) => said.every((words) => texts.some((text) => text.includes(words)))
    const { results } = await tried('deny = [{ tool = "*_file", path = ".env*" }]', ({ index, messages }) => {
      if (index === 0) return [{ call: 'run_command', args: { command, background: true } }]
      if (index <= 5) return tries
      // On a busy machine the swapping may begin late.
      const isOver = index > 90 || isSaid(messages.flatMap((message) => message.results.map(({ text }) => text)))
      return isOver ? [{ text: 'Done.' }] : [{ sleepMs: 100 }, ...tries.slice(0, 5)]
    })
    expect(isSaid(results)).toBe(true)
    expect(results.join('\n')).not.toContain(SECRET)
  },
)
