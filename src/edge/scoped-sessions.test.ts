/** For a credential that reaches some sessions, the others do not exist: in no list, by no id, for no method. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import type { Message } from '../../test/e2e/message.ts'
import { quiet } from '../../test/sim/clock.ts'
import { type Street, cleanUp, openStreet, opening, prompt } from '../../test/sim/street.ts'
import type { WireClient } from '../../test/sim/wire-client.ts'
import type { Scope } from '../credentials/scope.ts'
import { isBelow } from '../credentials/scope.ts'

cleanUp()

let root: string
let street: Street
let owner: WireClient
let [ada, bob] = ['', '']

beforeEach(async () => {
  root = newDirectory({ 'ada/inner/': '', 'bob/': '', 'adam/': '' })
  street = openStreet()
  owner = await street.client()
  ada = await started(owner, 'ada')
  bob = await started(owner, 'bob')
})

const at = (name: string) => join(root, name)
const refusal = ({ error }: Message): unknown => error?.data?.['code']

async function started(client: WireClient, name: string): Promise<string> {
  const { result, error } = await client.request('session/new', { cwd: at(name), mcpServers: [] })
  if (result === undefined) throw new Error(error?.message)
  return String(result['sessionId'])
}

const reaching = (scope: Scope, role: 'read' | 'prompt' | 'approve' = 'approve'): Promise<WireClient> =>
  street.client({}, { principal: { transport: 'websocket', isLocalUser: false, role, scope } })

async function listed(client: WireClient): Promise<readonly unknown[]> {
  const { result } = await client.request('session/list', {})
  return ((result?.['sessions'] ?? []) as readonly { readonly sessionId: string }[]).map(({ sessionId }) => sessionId)
}

/** Every method on one session. */
const ON_A_SESSION = [
  ['session/load', {}],
  ['session/resume', {}],
  ['session/prompt', { prompt: [{ type: 'text', text: 'Hi' }] }],
  ['session/close', {}],
  ['session/set_mode', { modeId: 'x' }],
  ['session/set_config_option', { configId: 'x', value: 'y' }],
  ['_parley/page', {}],
  ['_parley/outline', {}],
  ['_parley/seen', { seq: 1 }],
  ['_parley/answer', { requestId: 'q', optionId: 'x' }],
  ['_parley/withdraw', { promptId: 'p' }],
  ['_parley/promote', { promptId: 'p' }],
  ['_parley/rename', { title: 'x' }],
  ['_parley/fork', {}],
  ['_parley/revoke', { grant: { tool: 'x' } }],
  ['_parley/release', {}],
  ['_parley/force_cancel', {}],
] as const

describe.each<readonly [string, () => Scope]>([
  ['a list of sessions', () => ({ sessions: [ada] })],
  ['directories', () => ({ directories: [at('ada')] })],
])('with %s', (_what, scope) => {
  test('other sessions are in no list and on no page', async () => {
    for (let more = 0; more < 60; more += 1) await started(owner, more % 2 === 0 ? 'bob' : 'adam')
    expect(await listed(await reaching(scope()))).toEqual([ada])
    expect(await listed(owner)).toHaveLength(50)
  })

  test('the live list has its own sessions only', async () => {
    const principal = { transport: 'websocket', isLocalUser: false, role: 'read', scope: scope() } as const
    const clientCapabilities = { _meta: { 'parley/notifications': ['sessions'] } }
    const client = await street.client({ clientCapabilities }, { principal })
    await quiet()
    await owner.request('session/prompt', prompt(bob, 'Hi'))
    await owner.request('session/delete', { sessionId: bob })
    await owner.request('session/prompt', prompt(ada, 'Hi'))
    await quiet()
    const told = JSON.stringify(client.all('_parley/sessions'))
    expect(told).toContain(ada)
    expect(told).not.toContain(bob)
  })

  test.each(ON_A_SESSION)('%s of another session fails like that of an unknown one', async (method, more) => {
    const client = await reaching(scope())
    const params = { ...opening(bob), cwd: at('bob'), ...more }
    expect(refusal(await client.request(method, params))).toBe('SESSION_NOT_FOUND')
  })

  test('its own session can be opened and prompted', async () => {
    const client = await reaching(scope())
    expect((await client.request('session/load', { ...opening(ada), cwd: at('ada') })).error).toBeUndefined()
    expect((await client.request('session/prompt', prompt(ada, 'Hi'))).error).toBeUndefined()
  })

  test('methods of the whole server are refused, also to a role that may call them', async () => {
    const principal = { transport: 'websocket', isLocalUser: false, role: 'admin', scope: scope() } as const
    const methods = { '_parley/stop': async () => 'stopped', '_parley/listen': async () => 'open' }
    const client = await openStreet(street.house, { methods, principal }).client()
    for (const method of Object.keys(methods))
      expect(refusal(await client.request(method, {}))).toBe('SCOPE_TOO_NARROW')
  })
})

test('a new session is created only within its directories, whatever links and dots the path has', async () => {
  symlinkSync(at('bob'), at('ada/link'))
  for (const name of ['ada/inner', 'ada', 'adam', 'bob', 'ada/link']) await started(owner, name)
  const client = await reaching({ directories: [at('ada')] })
  expect(await started(client, 'ada')).toMatch(/./u)
  expect(await started(client, 'ada/inner')).toMatch(/./u)
  const foreign = ['bob', 'adam', 'ada/link', 'ada/../bob'].map((name) => ({ cwd: `${root}/${name}` }))
  for (const place of [...foreign, { cwd: at('ada'), additionalDirectories: [at('bob')] }]) {
    const refused = refusal(await client.request('session/new', { mcpServers: [], ...place }))
    const expected = expect.stringMatching(/^(SCOPE_TOO_NARROW|DIRECTORY_FOREIGN)$/u) as string
    expect([place.cwd, refused]).toEqual([place.cwd, expected])
  }
})

test('a credential for a list of sessions creates no session and no fork', async () => {
  const client = await reaching({ sessions: [ada] })
  expect(refusal(await client.request('session/new', { cwd: at('ada'), mcpServers: [] }))).toBe('SCOPE_TOO_NARROW')
  expect(refusal(await client.request('_parley/fork', { sessionId: ada }))).toBe('SCOPE_TOO_NARROW')
})

test.each([
  ['/a', '/a', true],
  ['/a/b', '/a/', true],
  ['/', '/', true],
  ['/a', '/', true],
  ['/ab', '/a', false],
  ['/a/../b', '/a', false],
  ['/a', '/a/b', false],
])('%s is below %s: %s', (path, directory, expected) => {
  expect(isBelow(path, directory)).toBe(expected)
})
