/** Agents that do what no agent should: one clear line for each, an exit code, and nothing left behind. */
import { assert, json, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PerTest } from '../../fixtures/process/per-test.ts'
import { type Transcript, emptyTranscript, withUpdates } from '../../../src/client/transcript/transcript.ts'
import { updateIn } from '../../../src/client/incoming/updates.ts'
import { paintFor } from '../../../src/cli/output/terminal/colors.ts'
import { plainScreen } from '../../../src/cli/output/terminal/screen.ts'
import { View } from '../../../src/cli/output/view/view.ts'
import { type Book, CLOSED, ENDS, NEW, Scene, says, update } from './scene.ts'

const scenes = new PerTest<Scene>(async (opened) => {
  for (const made of opened) made.close()
})
scenes.closeAfterEach()
const scene = (book: Book): Scene => {
  const made = new Scene({ 'session/new': NEW, 'session/prompt': [ENDS], ...book })
  scenes.add(made)
  return made
}

const answers = (method: string, result: unknown): Book => ({ [method]: [{ result }] })
const ends = (result: unknown): Book => ({ 'session/prompt': [says('Said.'), { result }] })

describe('an agent that', () => {
  test.concurrent.each([
    ['answers initialize with null', answers('initialize', null), { code: 1, why: 'speaks no version' }],
    ['names its version as a text', answers('initialize', { protocolVersion: '1' }), { code: 1, why: 'version "1"' }],
    ['answers session/new with null', answers('session/new', null), { code: 1, why: 'it names no session' }],
    ['ends its turn with null', ends(null), { code: 1, why: 'did not say why its turn is over' }],
    [
      'ends its turn for a reason of its own',
      ends({ stopReason: 'constructor' }),
      { code: 1, why: 'does not know: constructor' },
    ],
    [
      'dies in its turn',
      { 'session/prompt': [says('Said.'), { exit: 3 }] },
      { code: 75, why: 'fake ended (exit code 3)' },
    ],
    [
      'refuses',
      { 'session/prompt': [{ error: { code: -32_603, message: 'Broken' } }] },
      { code: 1, why: 'refused session/prompt' },
    ],
    [
      'wants an account',
      { 'session/new': [{ error: { code: -32_000, message: 'Log in' } }] },
      { code: 1, why: 'sign in first' },
    ],
  ] as const)('%s is told of in words', async (_what, book, { code, why }) => {
    const finished = await scene(book).run()
    expect(finished.code).toBe(code)
    expect(finished.stderr).toContain(why)
  })

  test.concurrent('says garbage beside its messages is understood all the same', async () => {
    const raw = 'Welcome!\n{"half":\n\n[1]\nnull\n5\n\u0000\n'
    const agent = scene({ 'session/prompt': [{ raw }, says('Said.'), { raw }, ENDS] })
    expect(await agent.run()).toMatchObject({ code: 0, stdout: 'Said.\n' })
  })

  test.concurrent('says a line that has no end is left, in words', async () => {
    const { code, stderr } = await scene({ 'session/prompt': [{ raw: 'x'.repeat(1024), times: 80 * 1024 }] }).run()
    expect(code).toBe(1)
    expect(stderr).toContain('longer than 67108864')
  })

  test.concurrent('tells of ten thousand things has all of them shown', async () => {
    const line = JSON.stringify({ jsonrpc: '2.0', ...(says('word ')['say'] as object) })
    const { code, stdout } = await scene({ 'session/prompt': [{ raw: `${line}\n`, times: 10_000 }, ENDS] }).run()
    expect({ code, length: stdout.trim().length }).toEqual({ code: 0, length: 5 * 10_000 - 1 })
  })

  test.concurrent('tells of a session that is not ours is not listened to', async () => {
    const content = { type: 'text', text: 'FOREIGN' }
    const told = { sessionId: 'other', update: { sessionUpdate: 'agent_message_chunk', content } }
    const foreign = { method: 'session/update', params: told }
    const { stdout } = await scene({ 'session/prompt': [{ say: foreign }, says('Said.'), ENDS] }).run()
    expect(stdout).toBe('Said.\n')
  })

  test.concurrent('never answers is left by Ctrl-C, and ends', async () => {
    const agent = scene({ initialize: [] })
    const { child, finished } = agent.start()
    await agent.until((one) => typeof one !== 'string' && one.method === 'initialize')
    child.kill('SIGINT')
    expect(await finished).toMatchObject({ code: 130 })
    expect(agent.heard.at(-1)).toBe(CLOSED)
  })
})

describe('hostile updates', () => {
  const kinds = [
    'agent_message_chunk',
    'tool_call',
    'tool_call_update',
    'plan',
    'available_commands_update',
    'current_mode_update',
    'config_option_update',
    'usage_update',
    'notice',
    'session_info_update',
    'constructor',
  ]
  const keys = ['content', 'toolCallId', 'title', 'status', 'locations', 'entries', 'configOptions', 'messageId']

  test('breaks neither transcript nor view', () => {
    const screen = plainScreen(() => undefined)
    const view = new View({ screen, paint: paintFor(false) })
    let transcript: Transcript = emptyTranscript
    assert(
      property(json({ maxDepth: 3 }), (text) => {
        const value: unknown = JSON.parse(text)
        for (const sessionUpdate of kinds) {
          const fields = Object.fromEntries(keys.map((key) => [key, [value, key]]))
          for (const odd of [
            { ...fields, toolCallId: 't' },
            { content: value, toolCallId: 't', entries: value },
          ]) {
            const params = updateIn({ sessionId: 's', update: { ...odd, sessionUpdate } })
            if (params === undefined) continue
            transcript = withUpdates(transcript, [params.update])
            view.update(params.update)
          }
        }
        expect(updateIn(value)).toBeUndefined()
      }),
    )
    view.end()
    expect(transcript.items.length).toBeGreaterThan(0)
  })

  test('and is as it should be is handed on as it came', () => {
    const params = { sessionId: 's', update: { sessionUpdate: 'hologram', data: [null] }, _meta: { a: 1 } }
    expect(updateIn(params)).toBe(params)
    const chunk = update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'a' }, more: 1 })
    const { params: good } = chunk['say'] as { readonly params: unknown }
    expect(updateIn(good)).toBe(good)
  })
})
