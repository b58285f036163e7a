import { describe, expect, test } from 'vitest'
import { of, opened } from '../../../test/fixtures/relay/talk.ts'

describe('the client’s terminals of a lost server', () => {
  const CREATE = { id: 'a-1', method: 'terminal/create', params: { sessionId: 's', command: 'make' } }
  const release = { method: 'terminal/release', params: { sessionId: 's', terminalId: 'term-1' } }

  test('are released once, and the response is not passed on', () => {
    const talk = opened()
    talk.server(CREATE)
    talk.client({ id: 'a-1', result: { terminalId: 'term-1' } })
    const [released, ...more] = of(talk.lose(), 'terminal/release')
    expect(released).toMatchObject(release)
    expect(more).toEqual([])
    expect(talk.client({ id: released?.id, result: {} })).toEqual([])
    expect(of(talk.lose(), 'terminal/release')).toEqual([])
  })

  test('are released also when they are created after its loss', () => {
    const talk = opened()
    talk.server(CREATE)
    expect(talk.lose()).toMatchObject([{ method: '$/cancel_request', params: { requestId: 'a-1' } }])
    expect(talk.client({ id: 'a-1', result: { terminalId: 'term-1' } })).toEqual([])
    expect(talk.told).toMatchObject([release])
  })

  test('are not released by the relay while the server is there', () => {
    const talk = opened()
    talk.server(CREATE)
    talk.server({ method: '$/cancel_request', params: { requestId: 'a-1' } })
    const late = { id: 'a-1', result: { terminalId: 'term-1' } }
    expect(talk.client(late)).toMatchObject([late])
    talk.server({ id: 'a-2', ...release })
    expect(of(talk.lose(), 'terminal/release')).toEqual([])
    expect(talk.told).toEqual([])
  })
})
