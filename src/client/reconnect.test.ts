import { describe, expect, test } from 'vitest'
import type { Book, Fields } from '../../test/fixtures/client/stage.ts'
import { Stage, Wire, answering, heldResume, inTurn, openSession } from '../../test/fixtures/client/stage.ts'
import { plain, refusing, resumed, update } from '../../test/fixtures/client/stage.ts'
import { isParleyError } from '../errors/parley-error.ts'
import { connect } from './client.ts'
import type { ClientDelegate } from './client-delegate.ts'

const question = (id: string) => ({
  id,
  method: 'session/request_permission',
  params: {
    sessionId: 's',
    toolCall: { toolCallId: 't' },
    options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
  },
})
const seqs = (stage: Stage) => stage.updates.map(({ _meta }) => _meta?.['parley/seq'])
const methods = (stage: Stage, wire: number) => stage.wire(wire).heard.map(({ method }) => method)

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  const [{ reason: error }] = (await Promise.allSettled([promise])) as [{ readonly reason?: unknown }]
  if (isParleyError(error, 'PEER_REFUSED')) return error.details.code
  return isParleyError(error) ? error.code : undefined
}

describe('a connection lost in the middle of a turn', () => {
  test('is resumed at the last entry seen, with the open prompt, which is answered once', async () => {
    const { stage, ended, sent } = await inTurn(resumed)
    for (const seq of [4, 5]) stage.wire(0).say(update(seq))
    stage.wire(0).cut()
    await stage.until('reconnected')
    const _meta = { 'parley/after': 5, 'parley/prompts': [{ requestId: sent.id, promptId: 'p1' }] }
    expect(await stage.wire(1).until('session/resume')).toMatchObject({ params: { sessionId: 's', cwd: '/w', _meta } })
    stage.wire(1).say(update(6))
    stage.wire(1).say({ id: sent.id, result: { stopReason: 'end_turn' } })
    expect(await ended).toEqual({ stopReason: 'end_turn' })
    expect(seqs(stage)).toEqual([4, 5, 6])
    expect(methods(stage, 1)).toEqual(['initialize', 'session/resume'])
    expect(stage.kinds).toEqual(['reconnecting', 'reconnected'])
    expect(sent.params).toMatchObject({ _meta: { 'parley/promptId': 'p1' } })
  })

  test('an interrupted turn ends with the error of the server', async () => {
    const { stage, ended } = await inTurn(({ id, method, params }, wire) => {
      if (method !== 'session/resume') return
      wire.say({ id, result: {} })
      const { _meta } = params as { readonly _meta: { readonly 'parley/prompts': readonly Fields[] } }
      const error = { code: -32_603, message: 'The turn was interrupted.', data: { code: 'TURN_INTERRUPTED' } }
      wire.say({ id: _meta['parley/prompts'][0]?.['requestId'], error })
    })
    stage.wire(0).cut()
    expect(await codeOf(ended)).toBe('TURN_INTERRUPTED')
  })

  test('is not resumed with a server that is stopping', async () => {
    const { stage } = await openSession(refusing('session/resume', 'SERVER_STOPPING'), resumed)
    stage.wire(0).cut()
    await stage.until('reconnected')
    expect(stage.dials).toBe(3)
  })

  test('a cancel sent meanwhile arrives', async () => {
    const { book, letGo } = heldResume()
    const { stage, client } = await inTurn(book)
    stage.wire(0).cut()
    await stage.until('reconnecting')
    client.cancel('s')
    await new Promise(setImmediate)
    await stage.wire(1).until('session/resume')
    letGo()
    expect(await stage.wire(1).until('session/cancel')).toMatchObject({ params: { sessionId: 's' } })
  })
})

describe('requests lost with their connection', () => {
  test('session/list is repeated, session/new and session/fork are not', async () => {
    const list = answering({ 'session/list': { sessions: [{ sessionId: 'a', cwd: '/' }] } })
    const { stage, client } = await openSession(list)
    const listed = client.sessions().next()
    const another = client.fork('s')
    await stage.wire(0).until('_parley/fork')
    stage.wire(0).cut()
    expect(await codeOf(another)).toBe('CONNECTION_LOST')
    stage.wire(0).cut()
    resumed(await stage.wire(1).until('session/resume'), stage.wire(1))
    expect((await listed).value).toEqual({ sessionId: 'a', cwd: '/' })
    expect(stage.wires.flatMap(({ heard }) => heard).filter(({ method }) => method === '_parley/fork')).toHaveLength(1)
  })

  describe('for an open session', () => {
    const session = { sessionId: 's', cwd: '/w' }
    /** Open, and seen up to entry 7. */
    async function open(...books: readonly Book[]) {
      let times = 0
      const first: Book = ({ id, method }, wire) => {
        if (method === 'session/resume' && (times += 1) === 1) wire.say({ id, result: { _meta: { 'parley/seq': 5 } } })
      }
      const stage = new Stage(first, ...books)
      const client = await stage.connect()
      await client.resumeSession(session)
      for (const seq of [6, 7]) stage.wire(0).say(update(seq))
      await new Promise(setImmediate)
      return { stage, client }
    }
    const metas = (stage: Stage, wire: number, method: string) =>
      stage
        .wire(wire)
        .heard.filter((message) => message.method === method)
        .map(({ params }) => params?.['_meta'] ?? {})
    /** Goes on with what it is asked for, up to entry 9. */
    const whole: Book = ({ id, method, params }, wire) => {
      const { 'parley/after': after = 0 } = (params?.['_meta'] ?? {}) as { readonly 'parley/after'?: number }
      if (method === 'session/load') for (let seq = after + 1; seq <= 9; seq += 1) wire.say(update(seq))
      if (method?.startsWith('session/') === true) wire.say({ id, result: { _meta: { 'parley/seq': 9 } } })
    }

    test.each([
      ['in the middle continues after its last update', [8, 1, 2, 3], { load: [{ 'parley/after': 3 }], resume: [] }],
      ['before its first update is complete', [8], { load: [{}], resume: [{ 'parley/after': 8 }] }],
    ])('a load cut %s', async (_where, before, asked) => {
      const { stage, client } = await open(whole)
      const loaded = client.loadSession(session)
      await stage.wire(0).until('session/load')
      for (const seq of before) stage.wire(0).say(update(seq))
      await new Promise(setImmediate)
      stage.wire(0).cut()
      await loaded
      expect(seqs(stage)).toEqual([6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect({ load: metas(stage, 1, 'session/load'), resume: metas(stage, 1, 'session/resume') }).toEqual(asked)
    })

    test('a load that is refused leaves the session open', async () => {
      const { stage, client } = await open(resumed)
      const loaded = client.loadSession(session)
      const { id } = await stage.wire(0).until('session/load')
      stage.wire(0).say({ id, error: { code: -32_000, message: 'Not now.', data: { code: 'SESSION_BUSY' } } })
      expect(await codeOf(loaded)).toBe('SESSION_BUSY')
      stage.wire(0).cut()
      await stage.until('reconnected')
      expect(metas(stage, 1, 'session/resume')).toEqual([{ 'parley/after': 7 }])
    })

    test('a resume loses no update that is on its way', async () => {
      const { stage, client } = await open(resumed)
      const resuming = client.resumeSession(session)
      await new Promise(setImmediate)
      const asked = stage.wire(0).heard.filter(({ method }) => method === 'session/resume')
      stage.wire(0).say({ id: asked.at(-1)?.id, result: { _meta: { 'parley/seq': 30 } } })
      await resuming
      stage.wire(0).cut()
      await stage.until('reconnected')
      expect(metas(stage, 1, 'session/resume')).toEqual([{ 'parley/after': 7 }])
    })
  })

  test('a repeated delete of a deleted session succeeds', async () => {
    const dies: Book = ({ method }, wire) => {
      if (method === 'session/delete') wire.cut()
    }
    const stage = new Stage(dies, refusing('session/delete', 'SESSION_NOT_FOUND'))
    await (await stage.connect()).deleteSession('s')
    expect(stage.dials).toBe(2)
  })
})

describe('a permission request', () => {
  test('of the lost server is withdrawn, and the repeated one is answered', async () => {
    const { stage } = await openSession(resumed)
    const reasons: unknown[] = []
    let asked = 0
    stage.ask = (_question, withdrawn) => {
      asked += 1
      if (asked === 2) return Promise.resolve('yes')
      return new Promise((resolve) => {
        withdrawn.addEventListener('abort', () => {
          reasons.push(withdrawn.reason)
          resolve('yes')
        })
      })
    }
    stage.wire(0).say(question('boot1-1'))
    await new Promise(setImmediate)
    stage.wire(0).cut()
    await stage.until('reconnected')
    stage.wire(1).say(question('boot2-1'))
    await new Promise(setImmediate)
    expect(reasons).toEqual(['disconnected'])
    const answers = stage.wires.flatMap(({ heard }) => heard).filter((message) => 'result' in message)
    expect(answers).toMatchObject([{ id: 'boot2-1', result: { outcome: { optionId: 'yes' } } }])
  })

  test('that another client has answered is withdrawn with that reason', async () => {
    const { stage } = await openSession()
    const reason = new Promise<unknown>((resolve) => {
      stage.ask = (_question, withdrawn) =>
        new Promise(() => withdrawn.addEventListener('abort', () => resolve(withdrawn.reason)))
    })
    stage.wire(0).say(question('q'))
    stage.wire(0).say({ method: '$/cancel_request', params: { requestId: 'q' } })
    expect(await reason).toBe('elsewhere')
  })

  test('stays open for other clients when its client leaves', async () => {
    const { stage, client } = await openSession()
    stage.wire(0).say(question('q'))
    await new Promise(setImmediate)
    client.close()
    await client.closed
    expect(stage.wire(0).heard.filter((message) => 'result' in message)).toEqual([])
  })
})

test('a server that does not reach its database says so, and once more when it does', async () => {
  const { stage } = await openSession()
  for (const state of ['uncertain', 'certain']) stage.wire(0).say({ method: '_parley/server', params: { state } })
  await stage.until('certain')
  expect(stage.kinds).toEqual(['uncertain', 'certain'])
})

describe('a server that stops gracefully', () => {
  test('is not started again until a request needs it, and then the sessions continue', async () => {
    const {
      stage,
      client,
      ended: cut,
    } = await inTurn((message, wire) => {
      resumed(message, wire)
      answering({ 'session/prompt': { stopReason: 'end_turn' } })(message, wire)
    })
    stage.wire(0).say(update(7))
    stage.wire(0).say({ method: '_parley/server', params: { state: 'stopping' } })
    await new Promise(setImmediate)
    stage.wire(0).cut()
    expect(await codeOf(cut)).toBe('SERVER_STOPPED')
    expect({ kinds: stage.kinds, dials: stage.dials }).toEqual({ kinds: ['stopped'], dials: 1 })
    expect(await client.prompt('s', 'two')).toEqual({ stopReason: 'end_turn' })
    expect(methods(stage, 1)).toEqual(['initialize', 'session/resume', 'session/prompt'])
    expect(stage.wire(1).heard[1]?.params).toMatchObject({ _meta: { 'parley/after': 7 } })
    expect(stage.kinds).toEqual(['stopped', 'reconnected'])
  })

  test('a turn that it interrupted ends by its response, and not again by the next server', async () => {
    const { stage, client, ended, sent } = await inTurn(resumed, resumed)
    stage.wire(0).say(update(4))
    stage.wire(0).say({ method: '_parley/server', params: { state: 'stopping' } })
    stage.wire(0).say({ id: sent.id, error: { code: -32_603, message: 'Cut.', data: { code: 'TURN_INTERRUPTED' } } })
    expect(await codeOf(ended)).toBe('TURN_INTERRUPTED')
    stage.wire(0).cut()
    await stage.until('stopped')
    void client.prompt('s', 'go on').catch(() => undefined)
    expect(await stage.wire(1).until('session/resume')).toMatchObject({
      params: { _meta: { 'parley/after': 4, 'parley/prompts': [{ requestId: 'unheard-0', promptId: 'p1' }] } },
    })
    await stage.wire(1).until('session/prompt')
    // Once a later update is sent, the end lies before it.
    stage.wire(1).say(update(11))
    stage.wire(1).cut()
    await expect.poll(() => stage.wires.length).toBe(3)
    expect(await stage.wire(2).until('session/resume')).toMatchObject({
      params: { _meta: { 'parley/after': 11, 'parley/prompts': [{ promptId: 'p2' }] } },
    })
  })

  test('that can no longer be reached is given up, and tried again when a request needs it', async () => {
    const { stage, client, ended: cut } = await inTurn()
    stage.wire(0).cut()
    expect(await codeOf(cut)).toBe('CONNECTION_LOST')
    expect(stage.kinds).toEqual(['reconnecting', 'lost'])
    const dials = stage.dials
    expect(dials).toBeGreaterThan(3)
    stage.books.push(resumed)
    client.rename('s', 'x').catch(() => undefined)
    await stage.until('reconnected')
    expect(stage.dials).toBe(dials + 1)
  })
})

describe('closed and deleted sessions', () => {
  test('one that was deleted meanwhile is dropped, and the others continue', async () => {
    let count = 0
    const stage = new Stage(
      ({ id, method }, wire) => {
        if (method === 'session/new') wire.say({ id, result: { sessionId: `s${(count += 1)}` } })
      },
      ({ id, method, params }, wire) => {
        if (method !== 'session/resume') return
        const error = { code: -32_002, message: 'There is no session s1.', data: { code: 'SESSION_NOT_FOUND' } }
        wire.say(params?.['sessionId'] === 's1' ? { id, error } : { id, result: {} })
      },
    )
    const client = await stage.connect()
    await client.newSession('/w')
    await client.newSession('/w')
    const gone = client.prompt('s1', 'go')
    await stage.wire(0).until('session/prompt')
    stage.wire(0).cut()
    expect(await codeOf(gone)).toBe('SESSION_NOT_FOUND')
    await stage.until('reconnected')
    expect(stage.events).toMatchObject([
      { kind: 'reconnecting' },
      { kind: 'detached', sessionId: 's1' },
      { kind: 'reconnected' },
    ])
  })

  const turn = (phase: string) => ({ method: '_parley/turn', params: { sessionId: 's', phase } })
  const deleted = {
    sessionId: 's',
    update: { sessionUpdate: 'session_info_update' },
    _meta: { 'parley/phase': 'deleted' },
  }

  test.each([
    ['one that a notice has closed is not opened again', [turn('closed')], []],
    ['one that an update has closed is not opened again', [{ method: 'session/update', params: deleted }], []],
    [
      'one that one client has closed and another has opened is resumed',
      [turn('closed'), turn('idle')],
      ['session/resume'],
    ],
  ])('%s after a reconnect', async (_name, told, asked) => {
    const { stage } = await openSession(resumed)
    for (const one of told) stage.wire(0).say(one)
    await new Promise(setImmediate)
    stage.wire(0).cut()
    await stage.until('reconnected')
    expect(methods(stage, 1)).toEqual(['initialize', ...asked])
  })
})

test('with an agent that is not a Parley server, open requests fail when the connection is lost', async () => {
  const stage = new Stage()
  let dials = 0
  let wire: Wire | undefined
  const dial = async () => {
    dials += 1
    wire = new Wire(({ id, method }, on) => {
      if (method === 'initialize') on.say({ id, result: plain })
    })
    return wire.pipe
  }
  const face: ClientDelegate = {
    updated: () => undefined,
    ask: stage.ask,
    connection: (event) => stage.events.push(event),
  }
  const means = { dial, pause: async () => undefined, newId: () => 'p' }
  const client = await connect(means, face, { info: { name: 't', title: 'T', version: '1' } })
  const listed = client.sessions().next()
  await wire?.until('session/list')
  wire?.cut()
  expect(await codeOf(listed)).toBe('CONNECTION_LOST')
  await client.closed
  expect({ dials, kinds: stage.kinds }).toEqual({ dials: 1, kinds: ['lost'] })
  expect(await codeOf(client.rename('s', 'x'))).toBe('CAPABILITY_MISSING')
})
