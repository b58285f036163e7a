import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import { openDatabase } from '../../../sqlite/database.ts'
import { readClaude } from './claude.ts'
import { readCodex } from './codex.ts'
import type { SessionFile } from './file-session.ts'
import { readSession, sessionFiles } from './find.ts'
import { readGemini } from './gemini.ts'
import { readOpencode } from './opencode.ts'

type Row = Readonly<Record<string, unknown>>

const at = '2026-01-02T03:04:05.000Z'
const fileOf = (...rows: readonly (Row | string)[]): SessionFile => ({
  path: '/f',
  text: rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'),
})
const words = (text: string) => ({ type: 'text', text })
const chunk = (role: string, text: string) => ({ kind: 'chunk', role, content: words(text) })
const broken = expect.objectContaining({ code: 'IMPORT_INVALID' })

describe('Claude Code', () => {
  const head = { sessionId: 's', cwd: '/w', timestamp: at }
  const record = (type: string, content: unknown, more: Row = {}) => {
    return { ...head, type, message: { role: type, content }, ...more }
  }

  test('thoughts, calls with their results, images and the title are read; its own messages to the model are not', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
    const session = readClaude(
      fileOf(
        { type: 'summary', summary: 'About hay' },
        record('user', 'Caveat', { isMeta: true }),
        record('user', '<command-name>/clear</command-name><command-args>now</command-args>'),
        record('user', '<local-command-stdout>done</local-command-stdout>'),
        record('user', [words('look'), image]),
        record('assistant', [
          { type: 'thinking', thinking: 'hm' },
          { type: 'tool_use', id: 'k', name: 'Bash', input: { command: 'ls' } },
        ]),
        record('assistant', [words('from a subagent')], { isSidechain: true }),
        record('user', [words('[Request interrupted by user]')]),
        { ...record('assistant', ''), message: { model: '<synthetic>', content: [words('No response requested.')] } },
        record('user', [{ type: 'tool_result', tool_use_id: 'k', is_error: true, content: [words('no')] }]),
        record('assistant', [words('done'), { type: 'hologram' }]),
        { type: 'file-history-snapshot' },
      ),
    )
    expect(session).toMatchObject({ id: 's', cwd: '/w', title: 'About hay', leftOut: ['hologram'] })
    expect(session.turns.map(({ prompt }) => prompt)).toEqual([
      [words('/clear now')],
      [words('look'), { type: 'image', mimeType: 'image/png', data: 'AAAA' }],
    ])
    expect(session.turns[1]).toMatchObject({
      at: Date.parse(at),
      said: [
        chunk('thought', 'hm'),
        { kind: 'call', toolCallId: 'k', patch: { title: 'Bash: ls', kind: 'execute' } },
        { kind: 'call', toolCallId: 'k', patch: { status: 'failed', content: [{ content: words('no') }] } },
        chunk('agent', 'done'),
      ],
    })
  })

  test('a broken line, a line of another kind and a file without a session are refused with their line', () => {
    for (const line of ['{"type":', '[]', 'null', '7'])
      expect(() => readClaude(fileOf(record('user', 'hi'), line))).toThrow('Line 2 of /f')
    expect(() => readClaude(fileOf(''))).toThrow(broken)
    expect(() => readClaude(fileOf({ type: 'user', sessionId: 's', message: { content: 'hi' } }))).toThrow('directory')
    expect(() => readClaude(fileOf(`{"a":${'['.repeat(500)}${']'.repeat(500)}}`))).toThrow('nested too deeply')
  })

  test('a huge line is read, and fields of another type are ignored', () => {
    const huge = 'x'.repeat(5_000_000)
    expect(readClaude(fileOf(record('user', huge))).turns[0]?.prompt).toEqual([words(huge)])
    const odd = [record('user', 7), record('assistant', [null, 7, { type: 7 }]), record('user', 'a', { timestamp: {} })]
    expect(readClaude(fileOf(...odd)).turns).toHaveLength(1)
  })
})

describe('Codex', () => {
  const meta = { timestamp: at, type: 'session_meta', payload: { id: 'x', cwd: '/w' } }
  const item = (payload: Row) => ({ timestamp: at, type: 'response_item', payload })
  const typed = (text: string) => item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })

  test('the user’s text is a prompt once, and the text that Codex adds for the model is not', () => {
    const event = { timestamp: at, type: 'event_msg', payload: { type: 'user_message', message: 'look' } }
    const added = typed('<environment_context>here</environment_context>')
    for (const file of [fileOf(meta, added, typed('look'), event), fileOf(meta, added, typed('look'))])
      expect(readCodex(file).turns).toEqual([{ at: Date.parse(at), prompt: [words('look')], said: [] }])
  })

  test('thoughts, calls and their results are read', () => {
    const session = readCodex(
      fileOf(
        meta,
        typed('look'),
        item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }),
        item({ type: 'function_call', name: 'shell', arguments: 'not JSON', call_id: 'a' }),
        item({ type: 'function_call_output', call_id: 'a', output: '{"output":"no","metadata":{"exit_code":1}}' }),
        item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'b' }),
        item({ type: 'custom_tool_call_output', call_id: 'b', output: 'ok' }),
        item({ type: 'function_call_output', call_id: 'never-called', output: 'ok' }),
        item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }),
        item({ type: 'hologram' }),
        { type: 'turn_context', payload: {} },
      ),
    )
    expect(session.leftOut).toEqual(['hologram'])
    expect(session.turns[0]?.said).toMatchObject([
      chunk('thought', 'hm'),
      { toolCallId: 'a', patch: { title: 'shell', rawInput: 'not JSON' } },
      { toolCallId: 'a', patch: { status: 'failed', content: [{ content: words('no') }] } },
      { toolCallId: 'b', patch: { kind: 'edit', rawInput: '*** Begin' } },
      { toolCallId: 'b', patch: { status: 'completed', content: [{ content: words('ok') }] } },
      chunk('agent', 'done'),
    ])
  })

  test('a broken line and a file without its first record are refused', () => {
    expect(() => readCodex(fileOf(meta, 'nonsense'))).toThrow('Line 2 of /f')
    expect(() => readCodex(fileOf(typed('hi')))).toThrow(broken)
  })
})

describe('Gemini CLI', () => {
  const session = (...messages: readonly Row[]) => fileOf({ sessionId: 'g', projectHash: 'h', startTime: at, messages })

  test('messages, thoughts and calls are read, in the directory of the hash', () => {
    const call = { id: 'k', name: 'read_file', args: { path: '/a' }, status: 'success' }
    const thoughts = [{ subject: 'A', description: 'b' }]
    const result = [{ functionResponse: { response: { output: 'text' } } }]
    const file = session(
      { type: 'info', content: 'Welcome' },
      { type: 'user', timestamp: at, content: [{ text: 'look' }] },
      { type: 'gemini', content: 'done', thoughts, toolCalls: [{ ...call, result }] },
      { type: 'hologram' },
    )
    expect(readGemini(file, (hash) => `/of-${hash}`)).toMatchObject({
      id: 'g',
      cwd: '/of-h',
      leftOut: ['hologram'],
      turns: [
        {
          prompt: [words('look')],
          said: [
            chunk('thought', 'A\nb'),
            { patch: { title: 'read_file: /a', kind: 'read' } },
            { patch: { status: 'completed', content: [{ content: words('text') }] } },
            chunk('agent', 'done'),
          ],
        },
      ],
    })
  })

  test('a file of changes is read as the state after all of them, without messages of the tool to the user', () => {
    const head = { sessionId: 'g', projectHash: 'h', startTime: at, kind: 'main' }
    const said = (id: string, content: string) => ({ id, type: 'gemini', content })
    const asked = (id: string, text: string) => ({ id, type: 'user', timestamp: at, content: [{ text }] })
    const context = asked('c', '<session_context>\nToday is Friday.</session_context>')
    const file = fileOf(
      head,
      { $set: { messages: [asked('x', 'replaced')] } },
      head,
      { $set: { messages: [context], lastUpdated: at } },
      asked('1', 'look'),
      said('2', 'do'),
      said('2', 'done'),
      asked('3', 'taken back'),
      said('4', 'gone'),
      { $rewindTo: '3' },
      { $set: { summary: 'Hay' } },
    )
    const read = readGemini({ ...file, path: '/f.jsonl' }, () => '/w')
    expect(read).toMatchObject({ id: 'g', title: 'Hay' })
    expect(read.turns).toEqual([{ at: Date.parse(at), prompt: [words('look')], said: [chunk('agent', 'done')] }])
  })

  test('a file whose directory is unknown is refused, and so is one that is not JSON', () => {
    expect(() => readGemini(session(), () => undefined)).toThrow('directory')
    expect(() => readGemini(fileOf('{'), () => '/w')).toThrow(broken)
  })
})

describe('OpenCode', () => {
  const head = fileOf({ id: 'ses', directory: '/w', title: 'Hay', time: { updated: 5 } })
  const message = (role: string, ...parts: readonly Row[]) => ({
    message: fileOf({ role, time: { created: 5 } }),
    parts: parts.map((part) => fileOf(part)),
  })

  test('messages with their parts are read', () => {
    const tool = { type: 'tool', callID: 'k', tool: 'bash', state: { status: 'error', input: {}, error: 'no' } }
    const asked = [
      words('look'),
      { ...words('added'), synthetic: true },
      { type: 'file', url: 'file:///a', filename: 'a' },
    ]
    const said = [{ type: 'step-start' }, { type: 'reasoning', text: 'hm' }, tool, words('done'), { type: 'odd' }]
    const read = readOpencode(head, [message('user', ...asked), message('assistant', ...said)])
    expect(read).toMatchObject({
      id: 'ses',
      title: 'Hay',
      updatedAt: 5,
      leftOut: ['odd'],
      turns: [
        {
          prompt: [words('look'), { type: 'resource_link', uri: 'file:///a', name: 'a' }],
          said: [
            chunk('thought', 'hm'),
            { patch: { title: 'bash' } },
            { patch: { status: 'failed', content: [{ content: words('no') }] } },
            chunk('agent', 'done'),
          ],
        },
      ],
    })
  })

  test('a session with one malformed part is refused', () => {
    const parts = [fileOf('{')]
    expect(() => readOpencode(head, [{ message: fileOf({ role: 'user' }), parts }])).toThrow(broken)
  })
})

const place = { home: '/h', environment: {}, cwd: '/w' }

test('a file that is not UTF-8 is refused with its line', async () => {
  const path = join(newDirectory({ 's.jsonl': Buffer.from('{}\n"\u00ff\u00fe"\n', 'latin1') }), 's.jsonl')
  await expect(readSession('claude', path, place)).rejects.toThrow('Line 2')
})

test('sessions in the database of OpenCode are read while OpenCode uses it, and nothing is written', async () => {
  const folder = newDirectory()
  const path = join(folder, 'opencode.db')
  const db = openDatabase(path, { pragmas: ['journal_mode = WAL'] })
  db.exec(`
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
    INSERT INTO session VALUES ('ses_1', NULL, '/w', 'Hay', 5, 6), ('ses_2', 'ses_1', '/w', 'a subagent', 6, 6);
    INSERT INTO message VALUES ('m2', 'ses_1', 7, '{"role":"assistant"}'), ('m1', 'ses_1', 6, '{"role":"user","time":{"created":5}}');
    INSERT INTO part VALUES ('p2', 'm2', 'ses_1', '{"type":"text","text":"done"}'), ('p1', 'm1', 'ses_1', '{"type":"text","text":"look"}');
  `)
  const before = readFileSync(path)
  const files = await sessionFiles('opencode', folder)
  expect(files).toEqual([`${path}#ses_1`])
  expect(await readSession('opencode', `${path}#ses_1`, place)).toMatchObject({
    id: 'ses_1',
    cwd: '/w',
    title: 'Hay',
    turns: [{ prompt: [words('look')], said: [chunk('agent', 'done')] }],
  })
  await expect(readSession('opencode', `${path}#ses_3`, place)).rejects.toThrow('it has no session ses_3')
  expect(readFileSync(path)).toEqual(before)
  db.close()
  const other = join(folder, 'other.db')
  writeFileSync(other, 'no database')
  await expect(sessionFiles('opencode', other)).rejects.toThrow(expect.objectContaining({ code: 'IMPORT_UNREADABLE' }))
})
