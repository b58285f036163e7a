import { describe, expect, test } from 'vitest'
import { Talk, metaOf, of, opened } from '../../test/fixtures/relay/talk.ts'
import { isOlder, stoppableVersion } from './server-upgrade.ts'

test.each([
  ['0.1.0', '0.1.1', true],
  ['0.9.0', '0.10.0', true],
  ['1.0.0', '0.9.9', false],
  ['0.1.0', '0.1.0', false],
  ['0.1.0-next.1', '0.1.0', false],
  ['unknown', '0.1.0', false],
])('%s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older)
})

test('only a server that can be asked to stop has a version to compare', () => {
  const agentInfo = { name: 'parley', version: '0.1.0' }
  const offering = (methods: readonly string[]) => ({
    agentInfo,
    agentCapabilities: { _meta: { parley: { methods } } },
  })
  expect(stoppableVersion(offering(['_parley/stop']))).toBe('0.1.0')
  expect(stoppableVersion(offering([]))).toBeUndefined()
  expect(stoppableVersion({ agentInfo })).toBeUndefined()
})

describe('a server that stops gracefully', () => {
  test('is invisible to the client; open requests are answered, prompts stay open', () => {
    const talk = opened()
    talk.prompt(2)
    talk.client({ id: 5, method: 'session/list', params: {} })
    expect(talk.server({ method: '_parley/server', params: { state: 'stopping' } })).toEqual([])
    expect(talk.conversation.ending).toBe('stopping')
    expect(talk.lose()).toMatchObject([{ id: 5, error: { data: { code: 'SERVER_STOPPING' } } }])
    expect(metaOf(of(talk.restore(), 'session/resume')[0])['parley/prompts']).toEqual([
      { requestId: 2, promptId: 'p-1' },
    ])
  })

  const agentCapabilities = { _meta: { parley: { methods: ['_parley/stop'] } } }
  const result = { agentInfo: { name: 'parley', version: '0.1.0' }, agentCapabilities }
  /** It has answered `initialize`, and was asked to stop. */
  function older(): Talk {
    const talk = new Talk()
    talk.client({ id: 0, method: 'initialize', params: { protocolVersion: 1 } })
    expect(talk.server({ id: 0, result })).toEqual([])
    expect(talk.asked).toMatchObject([{ method: '_parley/stop', params: { ifIdle: true } }])
    expect(talk.conversation.isHeldUp).toBe(true)
    return talk
  }

  test('an older, idle server is replaced before the client has its first answer', () => {
    const talk = older()
    expect(talk.server({ id: talk.asked[0]?.id, result: { stopping: true, working: 0 } })).toEqual([])
    expect(talk.conversation.ending).toBe('upgrading')
    expect(talk.lose()).toEqual([])
    expect(talk.restore()).toMatchObject([{ id: 0, method: 'initialize' }])
  })

  test('an older, busy server is used', () => {
    const talk = older()
    const busy = { id: talk.asked[0]?.id, result: { stopping: false, working: 1 } }
    expect(talk.server(busy)).toMatchObject([{ id: 0, result }])
    expect(talk.conversation.isHeldUp).toBe(false)
  })
})
