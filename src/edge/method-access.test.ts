/** Every method has a row, and each kind of client may call exactly the methods of its row. */
import { describe, expect, test } from 'vitest'
import { wordsIn } from '../../test/fixtures/word-list.ts'
import { House } from '../../test/sim/house.ts'
import { cleanUp, openStreet } from '../../test/sim/street.ts'
import { ROLES, type Role } from '../credentials/roles.ts'
import { isParleyError } from '../errors/parley-error.ts'
import { Access, METHOD_ACCESS, localUser } from './method-access.ts'
import type { Principal, TokenState, TransportKind } from './method-access.ts'
import { schemas } from './acp/v1/methods/params.ts'

cleanUp()

const ALWAYS = wordsIn('initialize authenticate logout _parley/ping')
/** By the least role that may call them. */
const BY_ROLE: Readonly<Record<Role, readonly string[]>> = {
  read: wordsIn(`session/load session/resume session/list $/cancel_request _parley/search _parley/page _parley/outline
    _parley/export _parley/seen`),
  prompt: wordsIn(`session/new session/fork session/prompt session/cancel session/close _parley/rename _parley/withdraw
    _parley/promote _parley/fork _parley/complete _parley/files _parley/directories _parley/force_cancel _parley/release
    _parley/agents _parley/models`),
  approve: wordsIn('session/set_mode session/set_config_option _parley/revoke _parley/answer'),
  admin: wordsIn(`session/delete _parley/servers _parley/import _parley/import/upload _parley/logs
    _parley/mcp/list _parley/mcp/test _parley/mcp/add _parley/mcp/remove
    _parley/rules/list _parley/rules/add _parley/rules/remove _parley/agents/test _parley/agents/import
    _parley/cluster/move _parley/cluster/drain _parley/listen
    _parley/access/list _parley/access/pair _parley/access/token _parley/access/share _parley/access/role
    _parley/access/remove _parley/status _parley/stop`),
}
/** A server that demands a token still answers these without it. */
const WITHOUT_TOKEN = ['_parley/status', '_parley/stop']
const ALL = [...ALWAYS, ...Object.values(BY_ROLE).flat()]
const TRANSPORTS = ['stdio', 'unix socket', 'http', 'websocket'] as const satisfies readonly TransportKind[]

const user = localUser
const stranger = (transport: TransportKind, role: Role = 'approve'): Principal => {
  return { transport, isLocalUser: false, role }
}

/** Spelled out, not computed as the code does. */
const MAY: Readonly<Record<Role, readonly string[]>> = {
  read: [...ALWAYS, ...BY_ROLE.read],
  prompt: [...ALWAYS, ...BY_ROLE.read, ...BY_ROLE.prompt],
  approve: [...ALWAYS, ...BY_ROLE.read, ...BY_ROLE.prompt, ...BY_ROLE.approve],
  admin: ALL,
}

function refusalOf(access: Access, method: string): string {
  try {
    access.require(method)
    return 'allowed'
  } catch (error) {
    return isParleyError(error) ? error.code : String(error)
  }
}

test('the lists of this test name exactly the methods of the table', () => {
  expect(ALL.toSorted()).toEqual(Object.keys(METHOD_ACCESS).toSorted())
})

/** What no credential for some sessions reaches; an export is of one session, and of all of it. */
const OF_WHOLE_SERVER = wordsIn(`_parley/servers _parley/agents _parley/models _parley/logs
  _parley/mcp/list _parley/mcp/test _parley/mcp/add _parley/mcp/remove
  _parley/rules/list _parley/rules/add _parley/rules/remove _parley/agents/test
  _parley/import/upload _parley/import _parley/agents/import _parley/cluster/move _parley/cluster/drain _parley/listen
  _parley/access/list _parley/access/pair _parley/access/token _parley/access/share _parley/access/role
  _parley/access/remove _parley/status _parley/stop _parley/export`)

test.each(TRANSPORTS)('over %s a credential for some sessions may call no method of the whole server', (transport) => {
  const principal = { ...stranger(transport, 'admin'), scope: { sessions: ['s'] } }
  const access = new Access(principal, 'not demanded')
  for (const method of ALL) {
    const expected = OF_WHOLE_SERVER.includes(method) ? 'SCOPE_TOO_NARROW' : 'allowed'
    expect([method, refusalOf(access, method)]).toEqual([method, expected])
    expect(access.canReach(method)).toBe(expected === 'allowed')
  }
})

test('a server that is stopping refuses new work only', () => {
  const access = new Access(user('unix socket'), 'valid', { isStopping: true })
  const refused = wordsIn(`_parley/agents/import _parley/fork _parley/import
    session/fork session/new session/prompt`)
  for (const method of ALL)
    expect([method, refusalOf(access, method)]).toEqual([
      method,
      refused.includes(method) ? 'SERVER_STOPPING' : 'allowed',
    ])
})

test('every method that takes parameters has a row', () => {
  expect(Object.keys(METHOD_ACCESS)).toEqual(expect.arrayContaining(Object.keys(schemas)))
})

describe.each(TRANSPORTS.flatMap((transport) => ROLES.map((role) => [transport, role] as const)))(
  'over %s with the role %s',
  (transport, role) => {
    test.each(ALL)('%s', (method) => {
      const expected = MAY[role].includes(method) ? 'allowed' : 'ROLE_TOO_LOW'
      const access = new Access(stranger(transport, role), 'not demanded')
      expect(refusalOf(access, method)).toBe(expected)
      expect(access.canReach(method)).toBe(expected === 'allowed')
    })
  },
)

describe.each<readonly [TokenState, readonly string[]]>([
  ['not demanded', ALL],
  ['valid', ALL],
  ['missing', [...ALWAYS, ...WITHOUT_TOKEN]],
])('the local user, whose token is %s', (token, allowed) => {
  test.each(ALL)('%s', (method) => {
    const expected = allowed.includes(method) ? 'allowed' : 'AUTH_REQUIRED'
    for (const transport of ['unix socket', 'stdio'] as const)
      expect(refusalOf(new Access(user(transport), token), method)).toBe(expected)
  })
})

test('a method without a row is unknown; without the token the answer is the same as for every method', () => {
  for (const method of ['_parley/new', 'constructor', '']) {
    expect(refusalOf(new Access(user('stdio'), 'not demanded'), method)).toBe('METHOD_UNKNOWN')
    expect(refusalOf(new Access(stranger('http'), 'missing'), method)).toBe('AUTH_REQUIRED')
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

  test('a method that a role may not call is neither advertised nor run', async () => {
    const principal = stranger('websocket')
    const client = await openStreet(new House(), { methods, principal }).client()
    const offered = client.received[0]?.result?.['agentCapabilities'] as { _meta: { parley: { methods: string[] } } }
    expect(offered._meta.parley.methods).toContain('_parley/search')
    expect(offered._meta.parley.methods).not.toContain('_parley/stop')
    const { error } = await client.request('_parley/stop', {})
    expect(error).toEqual({
      code: -32_600,
      message:
        "_parley/stop needs the role admin, and this connection has the role approve. On the server's machine, make a token with that role: parley token add NAME --role admin",
      data: { code: 'ROLE_TOO_LOW', retryable: false, what: '_parley/stop', needed: 'admin', role: 'approve' },
    })
    await client.request('_parley/search', {})
    expect(called).toEqual(['search'])
  })

  test('a method without a row is not run for any role', async () => {
    const client = await openStreet(new House(), { methods }).client()
    const { error } = await client.request('_parley/without_a_row', {})
    expect(error?.data).toMatchObject({ code: 'METHOD_UNKNOWN' })
    expect(called).not.toContain('without a row')
  })
})
