/** Every method has a row, and each kind of client may call exactly the methods of its row. */
import { describe, expect, test } from 'vitest'
import { House } from '../../test/sim/house.ts'
import { cleanUp, openStreet } from '../../test/sim/street.ts'
import { isParleyError } from '../errors/parley-error.ts'
import { Access, METHOD_ACCESS, type Principal, type TokenState, type TransportKind } from './access.ts'
import { schemas } from './acp/v1/methods/params.ts'

cleanUp()

const ALWAYS = ['initialize', 'authenticate', 'logout']
const WITH_TOKEN = [
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
  'session/list',
  'session/prompt',
  'session/cancel',
  'session/set_mode',
  'session/set_config_option',
  'session/close',
  'session/delete',
  '$/cancel_request',
  '_parley/rename',
  '_parley/fork',
  '_parley/revoke',
  '_parley/search',
  '_parley/complete',
]
const LOCAL = ['_parley/status', '_parley/stop']
const LOCAL_WITH_TOKEN = ['_parley/servers', '_parley/import']
const ALL = [...ALWAYS, ...WITH_TOKEN, ...LOCAL, ...LOCAL_WITH_TOKEN]

const user = (transport: TransportKind): Principal => ({ transport, isLocalUser: true })
const stranger = (transport: TransportKind): Principal => ({ transport, isLocalUser: false })

function refusalOf(principal: Principal, token: TokenState, method: string): string {
  try {
    new Access(principal, token).require(method)
    return 'allowed'
  } catch (error) {
    return isParleyError(error) ? error.code : String(error)
  }
}

test('the lists of this test name every method of the table, and no other', () => {
  expect(ALL.toSorted()).toEqual(Object.keys(METHOD_ACCESS).toSorted())
})

test('a server that is stopping refuses work that it would have to finish, and nothing else', () => {
  const access = new Access(user('unix socket'), 'valid', { isStopping: true })
  const refused = ALL.filter((method) => {
    try {
      access.require(method)
      return false
    } catch (error) {
      return isParleyError(error, 'SERVER_STOPPING')
    }
  })
  expect(refused.toSorted()).toEqual([
    '_parley/fork',
    '_parley/import',
    'session/fork',
    'session/new',
    'session/prompt',
  ])
})

test('every method that takes parameters has a row', () => {
  expect(Object.keys(METHOD_ACCESS)).toEqual(expect.arrayContaining(Object.keys(schemas)))
})

describe.each<readonly [Principal, TokenState, readonly string[]]>([
  [user('stdio'), 'not demanded', ALL],
  [user('unix socket'), 'not demanded', ALL],
  [user('unix socket'), 'valid', ALL],
  [user('unix socket'), 'missing', [...ALWAYS, ...LOCAL]],
  [user('stdio'), 'missing', [...ALWAYS, ...LOCAL]],
  [stranger('unix socket'), 'not demanded', [...ALWAYS, ...WITH_TOKEN]],
  [stranger('http'), 'valid', [...ALWAYS, ...WITH_TOKEN]],
  [stranger('websocket'), 'valid', [...ALWAYS, ...WITH_TOKEN]],
  [stranger('websocket'), 'missing', ALWAYS],
])('a client %j whose token is %s', (principal, token, allowed) => {
  test.each(ALL)('%s', (method) => {
    const refusal = LOCAL.includes(method) || LOCAL_WITH_TOKEN.includes(method) ? 'LOCAL_USER_ONLY' : 'AUTH_REQUIRED'
    const expected = allowed.includes(method) ? 'allowed' : principal.isLocalUser ? 'AUTH_REQUIRED' : refusal
    expect(refusalOf(principal, token, method)).toBe(expected)
  })
})

test('a method without a row is unknown, and without the token it is not even said so', () => {
  for (const method of ['_parley/new', 'constructor', '']) {
    expect(refusalOf(user('stdio'), 'not demanded', method)).toBe('METHOD_UNKNOWN')
    expect(refusalOf(stranger('http'), 'missing', method)).toBe('AUTH_REQUIRED')
  }
})

test('only a client on the socket of the user may lend model keys', () => {
  const mayLend = (principal: Principal): boolean => new Access(principal, 'valid').mayLendVariables
  expect(mayLend(user('unix socket'))).toBe(true)
  expect(mayLend(user('stdio'))).toBe(false)
  expect(mayLend(stranger('unix socket'))).toBe(false)
  expect(mayLend(stranger('websocket'))).toBe(false)
})

describe('over a connection', () => {
  const called: string[] = []
  const method = (name: string) => async () => called.push(name)
  const methods = {
    '_parley/stop': method('stop'),
    '_parley/search': method('search'),
    '_parley/without_a_row': method('without a row'),
  }

  test('what is for the local user only is neither offered to a remote client nor run for it', async () => {
    const principal = stranger('websocket')
    const client = await openStreet(new House(), { methods, principal }).client()
    const offered = client.received[0]?.result?.['agentCapabilities'] as { _meta: { parley: { methods: string[] } } }
    expect(offered._meta.parley.methods).toContain('_parley/search')
    expect(offered._meta.parley.methods).not.toContain('_parley/stop')
    const { error } = await client.request('_parley/stop', {})
    expect(error).toEqual({
      code: -32_600,
      message: '_parley/stop is only for the user of the machine that the server runs on. Run the command there.',
      data: { code: 'LOCAL_USER_ONLY', retryable: false, method: '_parley/stop' },
    })
    await client.request('_parley/search', {})
    expect(called).toEqual(['search'])
  })

  test('what has no row is not run for anyone', async () => {
    const client = await openStreet(new House(), { methods }).client()
    const { error } = await client.request('_parley/without_a_row', {})
    expect(error?.data).toMatchObject({ code: 'METHOD_UNKNOWN' })
    expect(called).not.toContain('without a row')
  })
})
