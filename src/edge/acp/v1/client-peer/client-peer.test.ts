/** Files and terminals are requested only from the client whose prompt runs, and every request ends. */
import { describe, expect, test } from 'vitest'
import type { Turn } from '../../../../ports/agent.ts'
import type { Fields, Message } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { ALL, agentDoes, answer, asked, inCompany, isAsked, onAStreet } from '../../../../../test/sim/company.ts'
import { untilCancelled } from '../../../../../test/sim/puppet.ts'
import { cleanUp, create, opening, prompt } from '../../../../../test/sim/street.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'
import { text } from '../../../../../test/sim/words.ts'

cleanUp()
const scene = onAStreet()

const reads = (turn: Turn) => turn.client.readTextFile?.({ path: '/a.txt' })
const has =
  (words: string) =>
  (message: Message): boolean =>
    JSON.stringify(message).includes(words)
const withdrawn = (client: WireClient) => client.all('$/cancel_request').map(({ requestId }) => requestId)
const count = (client: WireClient, method: string) => asked(client).filter((one) => one === method).length
const updateOf = (client: WireClient, status: string) =>
  client.updates.findLast(({ update }) => update['status'] === status)?.update

describe('a request to the client whose prompt runs', () => {
  test('is sent after the tool call, and to no other client', async () => {
    agentDoes(reads)
    const { ada, bob, id } = await inCompany()
    const request = await answer(ada, 'fs/read_text_file', { result: { content: 'not saved yet' } })
    await ada.answerTo(id)
    expect(request.params).toMatchObject({ path: '/a.txt' })
    expect(ada.text).toBe('"not saved yet"')
    expect(asked(bob)).toEqual([])
    const told = ada.received.findIndex(has('"in_progress"'))
    expect(told).toBeGreaterThan(-1)
    expect(told).toBeLessThan(ada.received.indexOf(request))
    expect(updateOf(bob, 'completed')).toBeDefined()
  })

  test('is sent after the tool call also when the client is slow to read', async () => {
    agentDoes(async (turn) => {
      for (let n = 0; n < 100; n += 1) await turn.say(text('x'.repeat(64 * 1024)))
      return reads(turn)
    })
    const ada = await scene.street.client({ clientCapabilities: ALL })
    const sessionId = await create(ada)
    ada.stall()
    const id = ada.ask('session/prompt', prompt(sessionId, 'Go'))
    await quiet()
    while (scene.street.house.agent.turns.length === 0) await quiet()
    await scene.street.house.clock.advance(1)
    ada.readOn()
    const request = await answer(ada, 'fs/read_text_file', { result: { content: 'short' } })
    await ada.answerTo(id)
    const told = ada.received.findIndex(has('"in_progress"'))
    expect(told).toBeGreaterThan(-1)
    expect(told).toBeLessThan(ada.received.indexOf(request))
  })

  test('goes to the sender of the prompt, also when that prompt was queued', async () => {
    agentDoes(reads)
    const { ada, bob, sessionId } = await inCompany()
    const second = bob.ask('session/prompt', prompt(sessionId, 'And now I', 'p2'))
    await answer(ada, 'fs/read_text_file', { result: { content: 'of Ada' } })
    await answer(bob, 'fs/read_text_file', { result: { content: 'of Bob' } })
    await bob.answerTo(second)
    expect([count(ada, 'fs/read_text_file'), count(bob, 'fs/read_text_file')]).toEqual([1, 1])
  })

  test('is not answered by a response from another connection', async () => {
    agentDoes(reads)
    const { ada, bob, id } = await inCompany()
    const { id: requestId } = await ada.until(isAsked('fs/read_text_file'))
    bob.send({ id: requestId, result: { content: 'forged' } })
    await quiet()
    ada.send({ id: requestId, result: { content: 'true' } })
    await ada.answerTo(id)
    expect(ada.text).toBe('"true"')
  })

  test.each<readonly [what: string, abilities: Fields]>([
    ['nothing', {}],
    ['words that sound like it', { fs: { readTextFile: 'yes', writeTextFile: 1 }, terminal: {}, elicitation: {} }],
    ['null', { fs: null, terminal: null, elicitation: { form: null, url: null } }],
  ])('is not sent when the client advertises %s', async (_what, abilities) => {
    const offered: unknown[] = []
    agentDoes(({ client }) => {
      offered.push(client.readTextFile, client.writeTextFile, client.terminals, client.elicit)
    })
    const { ada, bob, id } = await inCompany(abilities)
    await ada.answerTo(id)
    expect(offered).toEqual([undefined, undefined, undefined, undefined])
    expect([...asked(ada), ...asked(bob)]).toEqual([])
  })

  test('is possible for each capability alone', async () => {
    const offered: unknown[] = []
    agentDoes(({ client: { readTextFile, writeTextFile, elicit } }) => {
      offered.push(readTextFile === undefined, writeTextFile === undefined, Object.keys(elicit ?? {}))
    })
    const { ada, id } = await inCompany({ fs: { writeTextFile: true }, elicitation: { url: {} } })
    await ada.answerTo(id)
    expect(offered).toEqual([true, false, ['url']])
  })

  test('stays open when the client loads the session again meanwhile', async () => {
    agentDoes(reads)
    const { ada, sessionId, id } = await inCompany()
    const { id: requestId } = await ada.until(isAsked('fs/read_text_file'))
    await ada.request('session/load', opening(sessionId))
    ada.send({ id: requestId, result: { content: 'still here' } })
    await ada.answerTo(id)
    expect(ada.text).toContain('still here')
  })
})

describe('a client that disconnects before it has answered', () => {
  test('fails the request at once with one clear sentence, and no other client is asked', async () => {
    agentDoes(reads)
    const { ada, bob } = await inCompany()
    await ada.until(isAsked('fs/read_text_file'))
    await ada.leave()
    await bob.until(has('The client disconnected'))
    expect(updateOf(bob, 'failed')).toMatchObject({
      content: [{ content: { text: expect.stringContaining('disconnected') } }],
    })
    expect(asked(bob)).toEqual([])
  })

  test('loses its terminals, and their tool call says so, whatever the agent does meanwhile', async () => {
    scene.street.house.agent.script = async (turn) => {
      await turn.client.terminals?.create({ command: 'make' })
      return untilCancelled(turn)
    }
    const { ada, bob } = await inCompany()
    await answer(ada, 'terminal/create', { result: { terminalId: 'term-1' } })
    await ada.until(has('"terminal"'))
    await ada.leave()
    await bob.until(has('The terminal ended with its client.'))
    expect(updateOf(bob, 'failed')).toBeDefined()
  })

  test('is not asked again in the same turn', async () => {
    const offered: unknown[] = []
    scene.street.house.agent.script = async (turn) => {
      await turn.client.readTextFile?.({ path: '/a.txt' }).catch(() => undefined)
      offered.push(turn.client.readTextFile)
      return 'end_turn'
    }
    const { ada, bob } = await inCompany()
    await ada.until(isAsked('fs/read_text_file'))
    await ada.leave()
    await bob.until(has('disconnected'))
    await quiet()
    expect(offered).toEqual([undefined])
  })

  test('is asked again once it has reconnected for its prompt', async () => {
    scene.street.house.agent.script = async (turn) => {
      await turn.client.readTextFile?.({ path: '/a.txt' }).catch(() => undefined)
      await scene.street.house.clock.sleep(1_000)
      await turn.say(text(String(await turn.client.readTextFile?.({ path: '/b.txt' }))))
      return 'end_turn'
    }
    const { ada, bob, sessionId } = await inCompany()
    await ada.until(isAsked('fs/read_text_file'))
    await ada.leave()
    const again = await scene.street.client({ clientCapabilities: ALL })
    const adopt = { _meta: { 'parley/prompts': [{ requestId: 'old', promptId: 'p1' }] } }
    await again.request('session/resume', opening(sessionId, adopt))
    await scene.street.house.clock.advance(1_000)
    await answer(again, 'fs/read_text_file', { result: { content: 'back' } })
    expect((await again.answerTo('old')).result).toEqual({ stopReason: 'end_turn' })
    expect(again.text).toBe('back')
    expect(asked(bob)).toEqual([])
  })
})

describe('a cancel', () => {
  test.each<readonly [method: string, act: (turn: Turn) => unknown]>([
    ['fs/read_text_file', reads],
    ['fs/write_text_file', (turn) => turn.client.writeTextFile?.({ path: '/a.txt', content: '' })],
    ['terminal/create', (turn) => turn.client.terminals?.create({ command: 'make' })],
    [
      'elicitation/create',
      (turn) =>
        turn.client.elicit?.form?.({
          message: 'Who are you?',
          schema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
    ],
    ['elicitation/create', (turn) => turn.client.elicit?.url?.({ message: 'Sign in', url: 'https://example.com' })],
  ])('withdraws %s and ends the turn, though the client never answers', async (method, act) => {
    agentDoes(act)
    const { ada, sessionId, id } = await inCompany({ ...ALL, fs: { [camel(method)]: true } })
    const request = await ada.until(isAsked(method))
    ada.notify('session/cancel', { sessionId })
    expect((await ada.answerTo(id)).result).toEqual({ stopReason: 'cancelled' })
    expect(withdrawn(ada)).toEqual([request.id])
  })

  test('before a request has reached its client sends no withdrawal', async () => {
    agentDoes(async (turn) => {
      // The disk is slow with this, and what follows waits behind it.
      await turn.say(text('Let me see.'))
      return reads(turn)
    })
    scene.street.house.fault = (point) => (point === 'turn.started' ? scene.street.house.disk.hold() : undefined)
    const { ada, sessionId, id } = await inCompany()
    await quiet()
    ada.notify('session/cancel', { sessionId })
    await quiet()
    scene.street.house.disk.release()
    expect((await ada.answerTo(id)).result).toEqual({ stopReason: 'cancelled' })
    expect([...asked(ada), ...withdrawn(ada)]).toEqual([])
  })
})

describe('a terminal is released', () => {
  const creates = (turn: Turn) => turn.client.terminals?.create({ command: 'make', args: ['all'], env: { KEY: 'x' } })
  const made = (client: WireClient) => answer(client, 'terminal/create', { result: { terminalId: 'term-1' } })
  const released = (client: WireClient) => client.all('terminal/release').map(({ terminalId }) => String(terminalId))

  test('when the agent releases it, once its call has the exit status', async () => {
    agentDoes(async (turn) => {
      const terminal = await creates(turn)
      await terminal?.waitForExit()
      await terminal?.output()
      await terminal?.release()
      await terminal?.release()
      return terminal?.kill()
    })
    const { ada, bob, id } = await inCompany()
    const request = await made(ada)
    expect(request.params).toMatchObject({
      command: 'make',
      args: ['all'],
      cwd: '/',
      env: [{ name: 'KEY', value: 'x' }],
    })
    await answer(ada, 'terminal/wait_for_exit', { result: { exitCode: 0, signal: null } })
    await answer(ada, 'terminal/output', { result: { output: 'built\n', truncated: false } })
    await ada.answerTo(id)
    expect(released(ada)).toEqual(['term-1'])
    expect(ada.text).toContain('was released')
    // The client that has the terminal shows it; the others get its output as text.
    expect(updateOf(ada, 'completed')).toMatchObject({ content: [{ type: 'terminal', terminalId: 'term-1' }] })
    expect(updateOf(bob, 'completed')).toMatchObject({ content: [{ content: { text: 'built\n' } }] })
    expect(JSON.stringify(bob.received)).not.toContain('KEY')
    const [shown, gone] = ['"type":"terminal"', 'terminal/release'].map((sign) => ada.received.findIndex(has(sign)))
    expect(shown).toBeLessThan(gone ?? 0)
  })

  test('when the turn ends and the agent has not released it', async () => {
    agentDoes(async (turn) => void (await creates(turn)))
    const { ada, id } = await inCompany()
    await made(ada)
    await ada.answerTo(id)
    expect(released(ada)).toEqual(['term-1'])
    expect(updateOf(ada, 'failed')).toMatchObject({ content: [{ type: 'terminal' }, { type: 'content' }] })
  })

  test('when the turn is cancelled, though the agent ignores that', async () => {
    scene.street.house.agent.script = async (turn) => {
      await creates(turn)
      return new Promise(() => {})
    }
    const { ada, sessionId } = await inCompany()
    await made(ada)
    await ada.until(has('"terminal"'))
    ada.notify('session/cancel', { sessionId })
    await ada.until(isAsked('terminal/release'))
  })

  test('when the agent throws', async () => {
    scene.street.house.agent.script = async (turn) => {
      await creates(turn)
      throw new Error('broken')
    }
    const { ada, id } = await inCompany()
    await made(ada)
    await ada.answerTo(id)
    expect(released(ada)).toEqual(['term-1'])
  })

  test('when the client fails to wait for it or to kill it', async () => {
    agentDoes(async (turn) => {
      const terminal = await creates(turn)
      await terminal?.waitForExit().catch(() => terminal.kill())
    })
    const { ada, id } = await inCompany()
    await made(ada)
    await answer(ada, 'terminal/wait_for_exit', { error: { code: -32603, message: 'Broken.' } })
    await answer(ada, 'terminal/kill', { error: { code: -32603, message: 'Broken.' } })
    await ada.answerTo(id)
    expect(released(ada)).toEqual(['term-1'])
    expect(ada.text).toContain('Broken.')
  })

  test('when it was created after its request had timed out', async () => {
    agentDoes(creates)
    const { ada, sessionId, id } = await inCompany()
    const { id: requestId } = await ada.until(isAsked('terminal/create'))
    ada.notify('session/cancel', { sessionId })
    await ada.answerTo(id)
    expect(released(ada)).toEqual([])
    ada.send({ id: requestId, result: { terminalId: 'late' } })
    await ada.until(isAsked('terminal/release'))
    expect(released(ada)).toEqual(['late'])
  })

  test('when the client takes too long to create it', async () => {
    agentDoes(creates)
    const { ada, id } = await inCompany()
    const { id: requestId } = await ada.until(isAsked('terminal/create'))
    await scene.street.house.clock.advance(120_000)
    await ada.answerTo(id)
    expect(ada.text).toContain('did not answer create_terminal within 120 s')
    ada.send({ id: requestId, result: { terminalId: 'late' } })
    await ada.until(isAsked('terminal/release'))
    expect(withdrawn(ada)).toEqual([requestId])
  })

  test('when the server stops gracefully', async () => {
    scene.street.house.agent.script = async (turn) => {
      await creates(turn)
      return untilCancelled(turn)
    }
    const { ada } = await inCompany()
    await made(ada)
    await ada.until(has('"terminal"'))
    await scene.street.house.sessions.halt()
    expect(released(ada)).toEqual(['term-1'])
  })
})

describe('the answer of a client', () => {
  test('with an error is quoted in the tool call and to the agent', async () => {
    agentDoes(reads)
    const { ada, bob, id } = await inCompany()
    await answer(ada, 'fs/read_text_file', { error: { code: -32002, message: 'No such\nfile.' } })
    await ada.answerTo(id)
    expect(ada.text).toContain('No such file.')
    expect(updateOf(bob, 'failed')).toMatchObject({
      content: [{ content: { text: expect.stringContaining('No such') } }],
    })
  })

  test.each([null, {}, { content: 5 }, 'text'])('as %j is no text', async (result) => {
    agentDoes(reads)
    const { ada, id } = await inCompany()
    await answer(ada, 'fs/read_text_file', { result })
    await ada.answerTo(id)
    expect(ada.text).toContain('is invalid')
  })

  test('to a write shows what has changed', async () => {
    agentDoes((turn) => turn.client.writeTextFile?.({ path: '/a.txt', content: 'new' }))
    const { ada, bob, id } = await inCompany()
    await answer(ada, 'fs/read_text_file', { result: { content: 'old' } })
    await answer(ada, 'fs/write_text_file', { result: null })
    await ada.answerTo(id)
    const diff = { type: 'diff', path: '/a.txt', oldText: 'old', newText: 'new' }
    expect(updateOf(bob, 'completed')).toMatchObject({ content: [diff] })
    expect(bob.updates.find(({ update }) => update['kind'] === 'edit')?.update).toMatchObject({
      locations: [{ path: '/a.txt' }],
      status: 'in_progress',
    })
  })
})

describe('outside the directories of the turn', () => {
  const refused: readonly (readonly [what: string, act: (turn: Turn) => unknown, says: string])[] = [
    ['no file is read', (turn) => turn.client.readTextFile?.({ path: '/etc/hosts' }), 'outside'],
    ['no file is written', (turn) => turn.client.writeTextFile?.({ path: '/tmp/../etc/x', content: '' }), 'outside'],
    ['no command runs', (turn) => turn.client.terminals?.create({ command: 'ls', cwd: '/etc' }), 'outside'],
    ['a path must be absolute', (turn) => turn.client.readTextFile?.({ path: 'a.txt' }), 'absolute path'],
    ['lines are counted from 1', (turn) => turn.client.readTextFile?.({ path: '/tmp/a', line: 0 }), 'from 1'],
  ]

  test.each(refused)('%s is refused, and the client is not asked', async (_what, act, says) => {
    agentDoes(act)
    const ada = await scene.street.client({ clientCapabilities: ALL })
    const sessionId = await create(ada, { cwd: '/tmp' })
    await ada.request('session/prompt', prompt(sessionId, 'Go'))
    expect(ada.text).toContain(says)
    expect(asked(ada)).toEqual([])
  })
})

function camel(method: string): string {
  return method === 'fs/write_text_file' ? 'writeTextFile' : 'readTextFile'
}
