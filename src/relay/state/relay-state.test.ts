/**
 * The relay's memory of both sides, without a pipe: the messages that a new server gets, and those that the client gets
 * after a loss.
 */
import { describe, expect, test } from 'vitest'
import { MCP, Talk, metaOf, of, opened, read } from '../../../test/fixtures/relay/talk.ts'
import { ParleyError } from '../../errors/parley-error.ts'

test('authentication is repeated with the next server, until the client logs out', () => {
  const talk = new Talk()
  talk.exchange(0, 'initialize', { params: { protocolVersion: 1, _meta: { 'parley/token': 'hush' } }, result: {} })
  const params = { methodId: 'parley-token', _meta: { 'parley/token': 'hush' } }
  talk.exchange(1, 'authenticate', { params, result: {} })
  talk.lose()
  expect(talk.restore().slice(0, 2)).toMatchObject([{ method: 'initialize' }, { method: 'authenticate', params }])
  talk.exchange(2, 'session/new', { params: { cwd: '/w', mcpServers: [] }, result: { sessionId: 's' } })
  talk.exchange(3, 'logout', { params: {}, result: {} })
  talk.lose()
  const restored = talk.restore()
  expect(restored.map(({ method }) => method)).toEqual(['initialize'])
  expect(JSON.stringify(restored)).not.toContain('hush')
})

const ask = (id: string) => ({ id, method: 'session/request_permission', params: { sessionId: 's' } })
const refused = (code: string) => ({ error: { data: { code } } })

/** The request with which a lost session is resumed. */
function lostAndResumed(talk: Talk) {
  talk.lose()
  return of(talk.restore(), 'session/resume')[0]
}

describe('a first initialize while no server runs', () => {
  const offer = { protocolVersion: 1, agentInfo: { name: 'parley' } }
  const params = { protocolVersion: 1, clientCapabilities: { terminal: true } }
  const lineOf = (message: object) => Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const initialize = lineOf({ id: 0, method: 'initialize', params })

  test('is answered as the next server will answer, and repeated to that server', () => {
    const talk = new Talk()
    expect(talk.conversation.mayBeOffered(initialize)).toBe(true)
    expect(read(talk.conversation.offer(initialize, offer))).toMatchObject([{ id: 0, result: offer }])
    const [told] = talk.restore()
    expect(told).toMatchObject({ method: 'initialize', params: { clientCapabilities: { terminal: true } } })
    const changed = { ...offer, agentInfo: { name: 'parley', version: '2' } }
    expect(talk.server({ id: told?.id, result: changed })).toEqual([])
    expect(talk.offered).toEqual([changed])
  })

  test.each([
    { id: 0, method: 'initialize', params: { protocolVersion: '1' } },
    { id: 0, method: 'initialize', params: { protocolVersion: 1, _meta: { 'parley/agent': 'other' } } },
    { id: 0, method: 'session/list', params: {} },
  ])('is left to the server where the answer may differ: %j', (message) => {
    expect(new Talk().conversation.mayBeOffered(lineOf(message))).toBe(false)
  })

  test('is answered only the first time', () => {
    const talk = new Talk()
    talk.exchange(0, 'initialize', { params, result: offer })
    expect(talk.conversation.mayBeOffered(initialize)).toBe(false)
    expect(talk.offered).toEqual([offer])
  })
})

describe('a message of the client', () => {
  test('initialize gets the agent and the subscription to stops of the server', () => {
    const able = (...notices: readonly string[]) => {
      return { protocolVersion: 1, clientCapabilities: { fs: {}, _meta: { 'parley/notifications': notices, a: 1 } } }
    }
    const [told] = new Talk().client({ id: 0, method: 'initialize', params: able('turn') })
    expect(told?.params).toEqual({ ...able('turn', 'server'), _meta: { 'parley/agent': 'guide' } })
  })

  test('a prompt gets an id, unless the client gives one', () => {
    const talk = opened()
    expect(metaOf(talk.prompt(2))).toEqual({ 'parley/promptId': 'p-1' })
    const params = { sessionId: 's', prompt: [], _meta: { 'parley/promptId': 'mine', b: 2 } }
    expect(talk.client({ id: 3, method: 'session/prompt', params })[0]?.params).toEqual(params)
  })

  test.each([7, '', {}, false])(
    'a prompt with an invalid id is passed on, and the server refuses it: %j',
    (promptId) => {
      const params = { sessionId: 's', prompt: [], _meta: { 'parley/promptId': promptId } }
      expect(opened().client({ id: 3, method: 'session/prompt', params })[0]?.params).toEqual(params)
    },
  )

  test.each(['{"half', '[]', '7', '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":{},"method":"x"}'])(
    'is passed on unchanged where it is not JSON-RPC: %s',
    (line) => {
      const bytes = Buffer.from(`${line}\n`)
      expect(new Talk().conversation.fromClient(bytes)).toBe(bytes)
    },
  )

  test('each request gets one response, also if two have one id', () => {
    const talk = opened()
    for (const _each of [1, 2]) talk.client({ id: 2, method: 'session/list', params: {} })
    for (const responses of [1, 1, 0]) expect(talk.server({ id: 2, result: { sessions: [] } })).toHaveLength(responses)
    for (const _each of [1, 2]) talk.prompt(3)
    expect(metaOf(lostAndResumed(talk))['parley/prompts']).toEqual([
      { requestId: 3, promptId: 'p-1' },
      { requestId: 3, promptId: 'p-2' },
    ])
  })

  test('a resume may adopt prompts of an earlier connection: their responses are passed on, also after a lost connection', () => {
    const talk = opened()
    const old = { requestId: 'old', promptId: 'mine' }
    const adopting = { sessionId: 's', cwd: '/w', _meta: { 'parley/prompts': [old, { requestId: {} }, 'junk'] } }
    talk.exchange(2, 'session/resume', { params: adopting, result: {} })
    const resume = lostAndResumed(talk)
    expect(metaOf(resume)['parley/prompts']).toEqual([old])
    talk.server({ id: resume?.id, result: {} })
    expect(talk.server({ id: 'old', result: { stopReason: 'end_turn' } })).toHaveLength(1)
    talk.client({ id: 3, method: 'session/resume', params: adopting })
    talk.server({ id: 3, ...refused('SESSION_NOT_FOUND') })
    expect(talk.lose()).toEqual([])
  })

  test('a response to a withdrawn request is not passed on', () => {
    const talk = opened()
    talk.server(ask('boot-1'))
    expect(talk.client({ id: 'boot-1', result: {} })).toHaveLength(1)
    expect(talk.client({ id: 'boot-1', result: {} })).toEqual([])
  })
})

interface Prompt {
  readonly requestId: string
  readonly promptId: string
}

describe('after the loss of the server', () => {
  test('a session is resumed from the last entry seen, with its directories, MCP servers and prompts', () => {
    const talk = opened()
    talk.prompt(2)
    talk.update(7)
    expect(talk.lose()).toEqual([])
    const [greeting, resume, ...more] = talk.restore()
    expect(more).toEqual([])
    expect(greeting).toMatchObject({ method: 'initialize', params: { protocolVersion: 1 } })
    expect(resume).toMatchObject({ method: 'session/resume', params: { sessionId: 's', cwd: '/w', mcpServers: MCP } })
    expect(metaOf(resume)).toEqual({
      'parley/agentChosen': false,
      'parley/after': 7,
      'parley/prompts': [{ requestId: 2, promptId: 'p-1' }],
    })
    expect([greeting, resume].flatMap((one) => talk.server({ id: one?.id, result: {} }))).toEqual([])
    expect(talk.server({ id: 2, result: { stopReason: 'end_turn' } })).toHaveLength(1)
    expect(talk.server({ id: 2, result: { stopReason: 'end_turn' } })).toEqual([])
  })

  test('a prompt that ended before the cursor is adopted, so that its end is not sent as that of another client', () => {
    const talk = opened()
    talk.prompt(2)
    talk.update(7)
    talk.server({ id: 2, ...refused('AGENT_FAILED') })
    talk.lose()
    const [prompt] = metaOf(of(talk.restore(), 'session/resume')[0])['parley/prompts'] as readonly Prompt[]
    expect(prompt?.promptId).toBe('p-1')
    expect(talk.server({ id: prompt?.requestId, ...refused('AGENT_FAILED') })).toEqual([])
    talk.update(9)
    talk.lose()
    expect(metaOf(of(talk.restore(), 'session/resume')[0])['parley/prompts']).toEqual([])
  })

  test('a session that moves to another node loses nothing: the server is notified that nothing more is sent, and no request fails', () => {
    const talk = opened()
    talk.prompt(2)
    talk.update(7)
    talk.client({ id: 3, method: '_parley/rename', params: { sessionId: 's', title: 'Ours' } })
    expect(talk.server({ method: '_parley/server', params: { state: 'moving' } })).toEqual([])
    expect(talk.asked.at(-1)).toMatchObject({ method: '_parley/moved' })
    expect(talk.conversation.isHeldUp).toBe(true)
    expect(talk.conversation.ending).toBe('upgrading')
    expect(talk.lose()).toEqual([])
    expect(talk.conversation.isHeldUp).toBe(false)
    const [, resume, again] = talk.restore()
    expect(metaOf(resume)).toMatchObject({ 'parley/prompts': [{ requestId: 2 }] })
    expect(again).toMatchObject({ id: 3, method: '_parley/rename' })
  })

  test('open requests to the client are withdrawn', () => {
    const talk = opened()
    talk.server(ask('boot-1'))
    talk.server(ask('boot-2'))
    talk.server({ method: '$/cancel_request', params: { requestId: 'boot-2' } })
    expect(talk.lose()).toMatchObject([{ method: '$/cancel_request', params: { requestId: 'boot-1' } }])
    expect(talk.client({ id: 'boot-1', result: {} })).toEqual([])
  })

  test('idempotent requests are repeated, the others fail with one clear error', () => {
    const talk = opened()
    talk.client({ id: 5, method: 'session/list', params: {} })
    talk.client({ id: 6, method: '_parley/fork', params: { sessionId: 's' } })
    talk.client({ id: 7, method: '_other/thing', params: {} })
    expect(talk.lose().map(({ id, error }) => [id, error?.data?.['code'], error?.data?.['retryable']])).toEqual([
      [6, 'SERVER_RESTARTED', true],
      [7, 'SERVER_RESTARTED', true],
    ])
    expect(of(talk.restore(), 'session/list')).toMatchObject([{ id: 5 }])
    expect(talk.conversation.isRestored).toBe(false)
  })

  test('a queued prompt that was withdrawn is withdrawn again on the next connection, after its session was resumed', () => {
    const talk = opened()
    talk.prompt(2)
    const params = { sessionId: 's', promptId: 'p-1' }
    talk.client({ id: 5, method: '_parley/withdraw', params })
    expect(talk.lose()).toEqual([])
    const [resume, again, ...more] = talk.restore().filter(({ method }) => method !== 'initialize')
    expect(metaOf(resume)['parley/prompts']).toEqual([{ requestId: 2, promptId: 'p-1' }])
    expect([again, ...more]).toMatchObject([{ id: 5, method: '_parley/withdraw', params }])
    expect(talk.server({ id: 5, result: { withdrawn: true } })).toHaveLength(1)
    talk.lose()
    expect(of(talk.restore(), '_parley/withdraw')).toEqual([])
  })

  test('a session that cannot be resumed has its open prompts answered, but no later ones', () => {
    const talk = opened()
    talk.prompt(2)
    const resume = lostAndResumed(talk)
    talk.prompt(3)
    const told = talk.server({ id: resume?.id, ...refused('SESSION_NOT_FOUND') })
    expect(told).toMatchObject([{ id: 2, error: { data: { code: 'TURN_INTERRUPTED', session: 's' } } }])
    expect(talk.server({ id: 3, ...refused('SESSION_NOT_FOUND') })).toHaveLength(1)
    expect(lostAndResumed(talk)).toBeUndefined()
  })

  test('a session whose database or node is away is resumed over the next connection, and its prompts wait', () => {
    const talk = opened()
    talk.prompt(2)
    const resume = lostAndResumed(talk)
    expect(talk.server({ id: resume?.id, ...refused('CLUSTER_UNREACHABLE') })).toEqual([])
    expect(talk.conversation.isRefused).toBe(true)
    expect(talk.lose()).toEqual([])
    expect(talk.conversation.isRefused).toBe(false)
    const [again] = of(talk.restore(), 'session/resume')
    expect(metaOf(again)['parley/prompts']).toEqual(metaOf(resume)['parley/prompts'])
  })

  test('a cancel is repeated for a prompt that is still queued', () => {
    const talk = opened()
    talk.prompt(2)
    talk.client({ method: 'session/cancel', params: { sessionId: 's' } })
    const resume = lostAndResumed(talk)
    talk.server({ id: resume?.id, result: {} })
    expect(talk.asked).toMatchObject([{ method: '$/cancel_request', params: { requestId: 2 } }])
  })

  test.each(['closed', 'deleted'])('a session that another client has %s is not opened again', (phase) => {
    const talk = opened()
    const update = { sessionUpdate: 'session_info_update' }
    talk.server({ method: 'session/update', params: { sessionId: 's', update, _meta: { 'parley/phase': phase } } })
    expect(lostAndResumed(talk)).toBeUndefined()
  })

  test('a prompt waits for the resume of its session, and is not lost if the server is lost before', () => {
    const talk = opened()
    talk.lose()
    talk.restore()
    expect(talk.prompt(2)).toBeUndefined()
    const resume = lostAndResumed(talk)
    expect(metaOf(resume)['parley/prompts']).toEqual([])
    expect(talk.prompt(3)).toBeUndefined()
    talk.client({ method: '$/cancel_request', params: { requestId: 3 } })
    expect(talk.asked).toEqual([])
    expect(talk.server({ id: resume?.id, result: {} })).toEqual([])
    expect(talk.asked).toMatchObject([
      { id: 2, method: 'session/prompt', params: { _meta: { 'parley/promptId': 'p-1' } } },
      { id: 3, method: 'session/prompt', params: { _meta: { 'parley/promptId': 'p-2' } } },
      { method: '$/cancel_request', params: { requestId: 3 } },
    ])
    expect(talk.prompt(4)).toMatchObject({ id: 4 })
  })

  test('a prompt that waits for a resume goes to the next server if the session moves before the response', () => {
    const talk = opened()
    talk.lose()
    const [, first] = talk.restore()
    talk.prompt(2)
    talk.server({ method: '_parley/server', params: { state: 'moving' } })
    talk.server({ id: first?.id, result: {} })
    expect(of(talk.asked, 'session/prompt')).toEqual([])
    talk.lose()
    const [, second] = talk.restore()
    talk.server({ id: second?.id, result: {} })
    expect(of(talk.asked, 'session/prompt')).toMatchObject([{ id: 2 }])
  })

  test('a session that one client closed and another opened is resumed from the last entry seen', () => {
    const talk = opened()
    const tell = (seq: number, phase: string) => {
      const update = { sessionUpdate: 'session_info_update', _meta: { 'parley/phase': phase } }
      talk.server({ method: 'session/update', params: { sessionId: 's', update, _meta: { 'parley/seq': seq } } })
    }
    tell(40, 'closed')
    tell(42, 'idle')
    const resume = lostAndResumed(talk)
    expect(metaOf(resume)['parley/after']).toBe(42)
  })
})

test('when no server can be reached, every open request is answered with the reason', () => {
  const talk = opened()
  talk.prompt(2)
  talk.client({ id: 5, method: 'session/list', params: {} })
  const told = read(talk.conversation.giveUp(new ParleyError('SERVER_LOST', { reason: 'it is gone' })))
  expect(told.map(({ id, error }) => [id, error?.data?.['code']])).toEqual([
    [5, 'SERVER_LOST'],
    [2, 'TURN_INTERRUPTED'],
  ])
  expect(talk.conversation.awaitsResponse).toBe(false)
})

test('secrets of MCP servers are in no error and no log', () => {
  const talk = opened()
  talk.prompt(2)
  const lost = talk.lose()
  const [resume] = of(talk.restore(), 'session/resume')
  const told = [...lost, ...talk.server({ id: resume?.id, ...refused('JOURNAL_IO') })]
  expect(JSON.stringify([told, talk.said])).not.toContain('hush')
})
