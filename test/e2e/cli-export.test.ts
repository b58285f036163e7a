import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endServers, jsonLines, parley, sessionIdIn, workIn } from './cli.ts'
import { socketPathOf } from '../../src/config/socket.ts'
import { onceSoon } from '../wire/once-soon.ts'
import { environmentOf } from './environment.ts'
import { serveHere } from './hosted-server.ts'
import { binary, freshDirectory, initialize, newSession, promptOf, scriptAgent, startParley } from './parley.ts'
import { RawSocket } from './raw-socket.ts'

endServers()

const STEPS = [
  { thought: 'Hm.' },
  { chunk: 'Hello {n}. ', times: 3 },
  { plan: ['Look', { content: 'Tell', status: 'completed' }] },
  {
    toolCall: { title: 'Look `here`', content: [{ type: 'content', content: { type: 'text', text: 'a ``` fence' } }] },
  },
  { chunk: '再见。' },
]

/** For tests that only read it. */
let shared: ReturnType<typeof tell> | undefined
const told = () => (shared ??= tell('Say hello.'))

/** A session with one turn. */
async function tell(prompt: string) {
  const home = freshDirectory()
  const agent = await scriptAgent(home, STEPS)
  const { stdout } = await parley(['run', '--embedded', '--json', prompt], { home, agent })
  return { home, agent, id: sessionIdIn(stdout) }
}

const jsonl = async (home: string, id: string) =>
  (await parley(['export', id, '--format', 'jsonl'], { home })).stdout.split('\n').slice(0, -1)

describe.concurrent('parley export', () => {
  test.concurrent('to a disk that is full has failed', async () => {
    const { home, agent, id } = await told()
    const [env, cwd] = [environmentOf({ home, agent }), workIn(home)]
    for (const args of [
      ['export', id],
      ['run', '--embedded', '--json', 'hi'],
    ]) {
      const full = openSync('/dev/full', 'w')
      const child = spawn(process.execPath, [binary, ...args], { env, cwd, stdio: ['ignore', full, 'pipe'] })
      closeSync(full)
      let stderr = ''
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      expect([args, await onceSoon(child, 'close')]).toEqual([args, [1, null]])
      expect(stderr).toContain('parley: The output could not be written: ENOSPC')
    }
  })

  test.concurrent('is Markdown that a person can read', async () => {
    const { home, id } = await told()
    const { stdout, stderr, code } = await parley(['export', id.slice(0, 8)], { home })
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    const lines = stdout.split('\n')
    expect(lines.slice(0, 3)).toEqual(['# Say hello.', '', `- Session: \`${id}\``])
    expect(lines.slice(6).join('\n')).toBe(`## User

Say hello.

## Agent

> Hm.

Hello 1. Hello 2. Hello 3.

**Tool:** \`\` Look \`here\` \`\` (done)

\`\`\`\`
a \`\`\` fence
\`\`\`\`

再见。

## Plan

- [ ] Look
- [x] Tell
`)
  })

  test.concurrent('of several turns tells each once, and under it no more than it said', async () => {
    const { home, agent, id } = await tell('First.')
    await parley(['run', '--embedded', '--session', id, 'Second.'], { home, agent })
    const { stdout } = await parley(['export', id], { home })
    expect(stdout.match(/^(?:## \w+|First\.|Second\.|Hello .*|\*\*Tool.*|再见。)$/gmu)).toEqual(
      ['First.', 'Second.']
        .flatMap((prompt) => [
          '## User',
          prompt,
          '## Agent',
          'Hello 1. Hello 2. Hello 3.',
          '**Tool:** `` Look `here` `` (done)',
          '再见。',
        ])
        .concat('## Plan'),
    )
  })

  test.concurrent('is every entry, as JSON lines, to a file that is there whole or not at all', async () => {
    const { home, id } = await told()
    const path = join(home, 'out.jsonl')
    expect(await parley(['export', id, '--format', 'jsonl', '-o', path], { home })).toMatchObject({
      code: 0,
      stdout: '',
    })
    const [head, ...entries] = jsonLines(readFileSync(path, 'utf8'))
    expect(head).toMatchObject({
      parley: 'session',
      format: 1,
      entryFormat: 1,
      session: { id, lastSeq: entries.length },
    })
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
    expect(entries[0]).toMatchObject({ seq: 1, at: expect.any(Number), kind: 'session_created' })
    const nowhere = await parley(['export', id, '-o', join(home, 'no', 'file.md')], { home })
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be written') })
    expect(readdirSync(home).filter((name) => name.includes('.part'))).toEqual([])
    expect(await parley(['export', id, '--format', 'xml'], { home })).toMatchObject({ code: 2 })
    expect(await parley(['export', 'zzz'], { home })).toMatchObject({ code: 1, stdout: '' })
  })
})

describe.concurrent('parley import', () => {
  test.concurrent('brings a session back exactly, under a new id or its own, here or elsewhere', async () => {
    const { home, id } = await tell('你好 \u001b[31m')
    const lines = await jsonl(home, id)
    const file = join(home, 'session.jsonl')
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
    await serveHere({ home })
    const again = await parley(['import', file], { home })
    expect(again).toMatchObject({ code: 0, stderr: '' })
    const other = again.stdout.trim()
    expect(other).not.toBe(id)
    expect((await jsonl(home, other)).slice(1)).toEqual(lines.slice(1))
    expect((await parley(['show', other], { home })).stdout.split('\n').slice(2)).toEqual(
      (await parley(['show', id], { home })).stdout.split('\n').slice(2),
    )
    const taken = await parley(['import', '--keep-id', file], { home })
    expect(taken).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`Session ${id} exists already.`),
    })
    const elsewhere = freshDirectory()
    await serveHere({ home: elsewhere })
    expect(await parley(['import', '--keep-id', file], { home: elsewhere })).toMatchObject({
      code: 0,
      stdout: `${id}\n`,
    })
    expect(await jsonl(elsewhere, id)).toEqual(lines)
  })

  test.concurrent('of a file that is not right is one clear line that names the line, and leaves nothing', async () => {
    const { home, id } = await told()
    const [head = '', first = '', ...rest] = await jsonl(home, id)
    const change = (line: string, changes: object) => JSON.stringify({ ...(JSON.parse(line) as object), ...changes })
    const [second = ''] = rest
    const lastSeq = rest.length + 1
    const cases: readonly (readonly [string, readonly string[] | Uint8Array, string])[] = [
      ['nothing', [], 'Line 1 of'],
      ['no head', [first], 'Line 1 of'],
      ['a newer format', [change(head, { format: 2 })], 'was exported by a newer Parley (format 2, this one knows 1)'],
      ['newer entries', [change(head, { entryFormat: 9 })], 'was exported by a newer Parley (format 9'],
      ['a hole', [head, first, ...rest.slice(1)], 'Line 3 of'],
      ['a wrong seq', [head, change(first, { seq: 2 }), ...rest], 'Line 2 of'],
      ['no time', [head, first, change(second, { at: 'now' }), ...rest.slice(1)], 'Line 3 of'],
      ['a time that is no date', [head, change(first, { at: 9e15 }), ...rest], 'Line 2 of'],
      ['an unknown kind', [head, first, change(second, { kind: 'surprise' }), ...rest.slice(1)], 'knows no such kind'],
      [
        'a kind of Object',
        [head, first, change(second, { kind: 'constructor' }), ...rest.slice(1)],
        'knows no such kind',
      ],
      ['a wrong shape', [head, change(first, { cwd: 'relative' }), ...rest], 'this is no session_created: cwd'],
      ['a second beginning', [head, first, change(first, { seq: 2 }), ...rest.slice(1)], 'which comes only there'],
      ['a mark of ours', [head, change(first, { imported: 3 }), ...rest], 'imported'],
      ['half a line', [head, first, second.slice(0, 20)], 'Line 3 of'],
      ['half a file', [head, first, ...rest.slice(0, 2)], `ends here with entry 3 of ${lastSeq}`],
      ['more than there is', [head, first, ...rest, change(second, { seq: lastSeq + 1 })], `Line ${lastSeq + 2} of`],
      ['an empty line', [head, '', first, ...rest], 'Line 2 of'],
      ['a deep line', [head, `${'['.repeat(5_000)}${']'.repeat(5_000)}`, ...rest], 'nested too deeply'],
      ['bytes', Buffer.concat([Buffer.from(`${head}\n`), Buffer.from([0xff, 0xfe, 0x0a])]), 'it is not UTF-8'],
      [
        'a line without an end',
        Buffer.concat([Buffer.from(`${head}\n`), Buffer.alloc(65 * 1024 * 1024, 97)]),
        'longer than',
      ],
    ]
    const elsewhere = freshDirectory()
    await serveHere({ home: elsewhere })
    const file = join(elsewhere, 'bad.jsonl')
    writeFileSync(file, '')
    const { code, stdout, stderr } = await parley(['import', file], { home: elsewhere })
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 1, stdout: '', lines: 2 })
    const server = await RawSocket.open(socketPathOf(elsewhere))
    for (const [name, lines, says] of cases) {
      writeFileSync(file, lines instanceof Uint8Array ? lines : lines.map((line) => `${line}\n`).join(''))
      const { error } = await server.request('_parley/import', { path: file })
      expect([name, error?.message]).toEqual([name, expect.stringContaining(says)])
      expect([name, error?.message]).toEqual([name, expect.stringContaining(file)])
    }
    for (const path of ['/nowhere', elsewhere])
      expect((await server.request('_parley/import', { path })).error?.message).toContain('cannot be read')
    for (const params of [{}, { path: 'relative' }, { path: file, keepId: 1 }])
      expect((await server.request('_parley/import', params)).error?.code).toBe(-32602)
    server.socket.destroy()
    expect((await parley(['ls'], { home: elsewhere })).stdout).toBe('')
  })

  test.concurrent('that is killed leaves nothing', async () => {
    const home = freshDirectory()
    const agent = await scriptAgent(home, [{ chunk: 'word {n} ', times: 20_000 }])
    const client = startParley({ home, agent })
    await initialize(client)
    const id = await newSession(client, '/')
    await client.request('session/prompt', promptOf(id, 'go'))
    await client.leave()
    const file = join(home, 'long.jsonl')
    await parley(['export', id, '--format', 'jsonl', '-o', file], { home })
    const elsewhere = freshDirectory()
    const faults = JSON.stringify([{ point: 'journal.import.filled', action: 'kill', nth: 7 }])
    const killed = await parley(['import', file], { home: elsewhere, env: { PARLEY_FAULTS: faults } })
    expect(killed).toMatchObject({ code: 75, stdout: '' })
    expect((await parley(['ls'], { home: elsewhere })).stdout).toBe('')
    const again = await parley(['import', file], { home: elsewhere })
    expect(again).toMatchObject({ code: 0 })
    expect((await jsonl(elsewhere, again.stdout.trim())).slice(1)).toEqual(
      readFileSync(file, 'utf8').split('\n').slice(1, -1),
    )
  })
})
