/** `parley import --from TOOL`: sessions that were made in other tools, from the files that these keep. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { endServers, jsonLines, parley } from './cli.ts'
import { serveHere } from './hosted-server.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

endServers()

type Row = Readonly<Record<string, unknown>>

const lines = (...rows: readonly Row[]) => `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`
const at = '2026-01-02T03:04:05.000Z'
const SECRET = 'correct-horse-battery'

/** What each tool would have written for one prompt, one tool call and one answer, and a file that is broken. */
function filesOf(tool: string, work: string): Readonly<Record<string, string>> {
  const say = (role: string, content: unknown) => ({
    type: role,
    sessionId: 'c-1',
    cwd: work,
    timestamp: at,
    message: { role, content },
  })
  const item = (payload: Row) => ({ timestamp: at, type: 'response_item', payload })
  const hash = createHash('sha256').update(work).digest('hex')
  const storage = '.local/share/opencode/storage'
  switch (tool) {
    case 'claude':
      return {
        '.claude/projects/p/c-1.jsonl': lines(
          say('user', `where is the needle ${SECRET}`),
          say('assistant', [{ type: 'tool_use', id: 'k1', name: 'Grep', input: { pattern: 'needle' } }]),
          say('user', [{ type: 'tool_result', tool_use_id: 'k1', content: 'hay.txt' }]),
          say('assistant', [{ type: 'text', text: 'in the haystack' }]),
        ),
        '.claude/projects/p/broken.jsonl': `${lines(say('user', 'half'))}{"type":`,
      }
    case 'codex':
      return {
        '.codex/sessions/2026/01/02/rollout-1.jsonl': lines(
          { timestamp: at, type: 'session_meta', payload: { id: 'x-1', cwd: work } },
          { timestamp: at, type: 'event_msg', payload: { type: 'user_message', message: 'where is the needle' } },
          item({ type: 'function_call', name: 'shell', arguments: '{"command":"ls"}', call_id: 'k1' }),
          item({ type: 'function_call_output', call_id: 'k1', output: 'hay.txt' }),
          item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'in the haystack' }] }),
        ),
        '.codex/sessions/2026/01/02/rollout-broken.jsonl': 'nonsense\n',
      }
    case 'gemini':
      return {
        [`.gemini/tmp/${hash}/chats/session-1.json`]: JSON.stringify({
          sessionId: 'g-1',
          projectHash: hash,
          startTime: at,
          messages: [
            { type: 'user', timestamp: at, content: 'where is the needle' },
            {
              type: 'gemini',
              content: 'in the haystack',
              toolCalls: [{ id: 'k1', name: 'glob', args: {}, status: 'success', result: [] }],
            },
          ],
        }),
        [`.gemini/tmp/${hash}/chats/session-broken.json`]: '[]',
      }
    default:
      return {
        [`${storage}/session/p/ses_1.json`]: JSON.stringify({ id: 'ses_1', directory: work, title: 'Hay' }),
        [`${storage}/message/ses_1/msg_1.json`]: JSON.stringify({ id: 'msg_1', role: 'user', time: { created: 1e12 } }),
        [`${storage}/message/ses_1/msg_2.json`]: JSON.stringify({ id: 'msg_2', role: 'assistant' }),
        [`${storage}/part/msg_1/prt_1.json`]: JSON.stringify({ type: 'text', text: 'where is the needle' }),
        [`${storage}/part/msg_2/prt_2.json`]: JSON.stringify({ type: 'text', text: 'in the haystack' }),
        [`${storage}/session/p/ses_broken.json`]: '{"id":"ses_broken"}',
      }
  }
}

async function user(tool: string) {
  const home = freshDirectory()
  const work = join(home, 'work')
  mkdirSync(work, { recursive: true })
  const files = Object.entries(filesOf(tool, work)).map(([name, text]) => [join(home, name), text] as const)
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const agent = await scriptAgent(home, [{ chunk: 'I go on.' }])
  const env = { HOME: home, SOME_API_KEY: SECRET }
  await serveHere({ home, env })
  const run = (...words: readonly string[]) => parley(words, { home, agent, env, cwd: work })
  return { home, work, files, run }
}

test.concurrent('sessions are listed, imported once, found, shown and gone on with, and the broken one is named', async () => {
  const tool = 'claude'
  const { home, work, files, run } = await user(tool)
  const listed = await run('import', '--from', tool)
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(work) })
  expect(listed.stderr).toContain('broken')
  expect(listed.stderr).toContain('nothing was imported; add --all')
  expect((await run('ls', '--json')).stdout).toBe('')

  const leftover = join(home, 'import-killed')
  mkdirSync(leftover)
  utimesSync(leftover, 0, 0)
  const all = await run('import', '--from', tool, '--all', '--json')
  expect(all.code).toBe(1)
  expect(existsSync(leftover)).toBe(false)
  const rows = jsonLines(all.stdout)
  expect(rows).toHaveLength(2)
  const imported = rows.flatMap((row) => ('imported' in row ? [row['imported'] as Row] : []))
  expect(rows).toContainEqual({
    skipped: { file: expect.stringContaining('broken'), why: 'failed', reason: expect.any(String) },
  })
  const id = String(imported[0]?.['sessionId'])
  expect(jsonLines((await run('ls', '--json')).stdout)).toEqual([expect.objectContaining({ sessionId: id, cwd: work })])
  const shown = (await run('show', id)).stdout
  expect(shown).toContain('where is the needle')
  expect(shown).toContain('in the haystack')
  expect(shown).not.toContain(SECRET)
  expect((await run('search', 'haystack')).stdout).toContain(id.slice(0, 8))
  expect(await run('export', id)).toMatchObject({ code: 0, stdout: expect.stringContaining('in the haystack') })
  expect(await run('run', '--session', id, 'go on')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('I go on.'),
  })

  const again = await run('import', '--from', tool, '--all')
  expect(again.stderr).toContain(`it is here already, as ${id}`)
  expect(jsonLines((await run('ls', '--json')).stdout)).toHaveLength(1)
  for (const [path, text] of files) expect(readFileSync(path, 'utf8')).toBe(text)
})

test.concurrent.each(['codex', 'gemini', 'opencode'])('sessions of %s are imported and shown', async (tool) => {
  const { files, run } = await user(tool)
  const rows = jsonLines((await run('import', '--from', tool, '--all', '--json')).stdout)
  expect(rows).toHaveLength(2)
  const [imported] = rows.flatMap((row) => ('imported' in row ? [row['imported'] as Row] : []))
  expect(rows).toContainEqual({
    skipped: { file: expect.stringContaining('broken'), why: 'failed', reason: expect.any(String) },
  })
  const shown = (await run('show', String(imported?.['sessionId']))).stdout
  expect(shown).toContain('where is the needle')
  expect(shown).toContain('in the haystack')
  for (const [path, text] of files) expect(readFileSync(path, 'utf8')).toBe(text)
})

test.concurrent('a file that is named is imported alone; a session that was deleted comes back when it is imported again', async () => {
  const { home, run } = await user('claude')
  const file = join(home, '.claude/projects/p/c-1.jsonl')
  const first = await run('import', '--from', 'claude', file)
  expect(first).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('1 turn') })
  const [id = ''] = first.stdout.split(' ')
  expect(await run('rm', id, '--yes')).toMatchObject({ code: 0 })
  expect((await run('import', '--from', 'claude', file)).stdout).toContain(id)
})

test.concurrent('without a chosen agent the one that this server has goes on with it, and its time is that of the file', async () => {
  const { home, work } = await user('codex')
  const run = (...words: readonly string[]) => parley(words, { home, env: { HOME: home }, cwd: work })
  await run('import', '--from', 'codex', '--all')
  const [session] = jsonLines((await run('ls', '--json')).stdout)
  expect(session).toMatchObject({ updatedAt: at, _meta: { 'parley/agent': 'guide' } })
})

test.concurrent('what cannot be meant is refused', async () => {
  const { run } = await user('codex')
  expect((await run('import', '--from', 'other')).stderr).toContain('claude, codex, gemini, opencode')
  expect((await run('import', '--all')).stderr).toContain('--from')
  expect((await run('import')).stderr).toContain('--from')
  expect(await run('import', '--from', 'codex', '/absent')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('/absent cannot be read'),
  })
  expect((await run('import', '--from', 'claude')).stdout).toContain('Claude Code has no sessions in')
})
