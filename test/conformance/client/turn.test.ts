/** What our client does while an agent's turn runs: shows, answers, cancels. */
import { afterEach, describe, expect, test } from 'vitest'
import { cancelled, emptyTranscript, withUpdates } from '../../../src/client/transcript/transcript.ts'
import { type Book, ENDS, NEW, Scene, asks, question, says, update } from './scene.ts'

const scenes: Scene[] = []
const scene = (book: Book): Scene => {
  const made = new Scene({ 'session/new': NEW, ...book })
  scenes.push(made)
  return made
}
afterEach(() => {
  for (const made of scenes.splice(0)) made.close()
})

describe('a turn', () => {
  test('C-PR-1 C-PR-2 is asked for with nothing but text, which every agent takes', async () => {
    const agent = scene({ 'session/prompt': [ENDS] })
    await agent.run()
    expect(agent.paramsOf('session/prompt')['prompt']).toEqual([{ type: 'text', text: 'Do it.' }])
  })

  test('C-PR-3 ends with its response; updates after that are accepted anyway', async () => {
    const commands = {
      sessionUpdate: 'available_commands_update',
      availableCommands: [{ name: 'help', description: '' }],
    }
    const agent = scene({
      'session/prompt': [says('a'), ENDS, update(commands), { say: { method: '_x/told', params: {} } }],
    })
    const client = await agent.connect()
    await client.newSession('/w')
    expect(await client.prompt('s', 'go')).toEqual({ stopReason: 'end_turn' })
    while (agent.updates.length < 2) await new Promise(setImmediate)
    expect(
      withUpdates(
        emptyTranscript,
        agent.updates.map((one) => one.update),
      ).commands,
    ).toEqual(commands.availableCommands)
  })

  test('C-CA-1 C-CA-3 C-CA-4 that is cancelled answers all its questions as cancelled, and still hears of its calls', async () => {
    const failed = { sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status: 'failed' }
    const agent = scene({
      'session/prompt': [
        { say: question('q1') },
        { say: question('q2') },
        { wait: 'session/cancel' },
        update(failed),
        { result: { stopReason: 'cancelled' } },
      ],
    })
    const client = await agent.connect()
    const open: object[] = []
    agent.ask = (...question: unknown[]) => {
      open.push(question)
      return new Promise(() => undefined)
    }
    await client.newSession('/w')
    const turn = client.prompt('s', 'go')
    while (open.length < 2) await new Promise(setImmediate)
    client.cancel('s')
    expect(await turn).toEqual({ stopReason: 'cancelled' })
    await agent.until((one) => typeof one !== 'string' && one.id === 'q2')
    for (const id of ['q1', 'q2'])
      expect(agent.answers(id)).toMatchObject([{ result: { outcome: { outcome: 'cancelled' } } }])
    expect(agent.updates.map((one) => one.update)).toEqual([failed])
    expect(agent.cancelling).toEqual(['s'])
  })

  test('C-PM-1 C-PM-2 C-PM-3 without a user who could answer a permission request is answered with the option that rejects', async () => {
    const agent = scene({ 'session/prompt': [{ request: question('q') }, ENDS] })
    const { code, stderr } = await agent.run()
    expect(code).toBe(0)
    expect(stderr).toContain('Rejected: Delete all')
    expect(agent.answers('q')).toMatchObject([{ result: { outcome: { outcome: 'selected', optionId: 'no' } } }])
  })

  test('C-EX-1 answers unknown requests with an error, and ignores unknown notifications', async () => {
    const agent = scene({
      'session/prompt': [asks('x', '_x/y'), { say: { method: '_x/n', params: {} } }, { say: { method: 'foo' } }, ENDS],
    })
    expect((await agent.run()).code).toBe(0)
    expect(agent.answer('x')).toMatchObject({ error: { code: -32_601 } })
  })

  test('C-EL-1 C-EL-2 C-EL-3 C-EL-4 C-EL-5 C-EL-6 offers no forms and opens no links: what comes all the same is refused, never shown as known', async () => {
    const form = {
      mode: 'form',
      message: 'Password?',
      requestedSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } },
    }
    const agent = scene({
      'session/prompt': [
        asks('f', 'elicitation/create', form),
        asks('u', 'elicitation/create', {
          mode: 'url',
          message: 'Go',
          url: 'https://xn--e1awd7f.com',
          elicitationId: 'e',
        }),
        { say: { method: 'elicitation/complete', params: { elicitationId: 'unknown' } } },
        ENDS,
      ],
    })
    const { code, stdout } = await agent.run()
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining('Password') as string })
    expect(agent.paramsOf('initialize')['clientCapabilities']).not.toHaveProperty('elicitation')
    for (const id of ['f', 'u']) expect(agent.answer(id)).toMatchObject({ error: { code: -32_602 } })
  })
})

describe('updates', () => {
  const shown = (...updates: readonly { readonly sessionUpdate: string }[]) => withUpdates(emptyTranscript, updates)

  test('C-PL-1 a plan replaces the one before', () => {
    const plan = (content: string) => ({
      sessionUpdate: 'plan',
      entries: [{ content, priority: 'low', status: 'pending' }],
    })
    expect(shown(plan('one'), plan('two')).plan).toEqual(plan('two').entries)
  })

  test('C-CA-2 C-CA-4 a call that is open when its turn is cancelled is cancelled at once, until the agent says how it ended', () => {
    const call = (toolCallId: string, status: string) => ({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: 'x',
      status,
    })
    const before = shown(call('done', 'completed'), call('runs', 'in_progress'), call('waits', 'pending'))
    const statuses = ({ items }: typeof before) =>
      items.map((item) => (item.kind === 'tool_call' ? item.call.status : undefined))
    expect(statuses(before)).toEqual(['completed', 'in_progress', 'pending'])
    const after = cancelled(before)
    expect(statuses(after)).toEqual(['completed', 'cancelled', 'cancelled'])
    const late = { sessionUpdate: 'tool_call_update', toolCallId: 'runs', status: 'completed' }
    expect(statuses(withUpdates(after, [late]))).toEqual(['completed', 'completed', 'cancelled'])
  })

  test('C-EX-2 C-EL-7 a notice of an unknown severity is kept, not taken for a known one', () => {
    const notice = { sessionUpdate: 'notice', severity: 'apocalyptic', title: 'Hm' }
    expect(shown(notice).items).toMatchObject([{ kind: 'other', update: notice }])
  })
})
