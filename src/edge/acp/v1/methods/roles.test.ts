/** What each role may name, change and answer over a connection, besides the methods that it may call. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Fields, Message } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { type Street, cleanUp, create, cwd, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'
import { option, text } from '../../../../../test/sim/words.ts'
import type { Role } from '../../../../credentials/roles.ts'

cleanUp()

let street: Street
let owner: WireClient
let sessionId: string

const as = (role: Role, initialize: Fields = {}): Promise<WireClient> =>
  street.client(initialize, { principal: { transport: 'websocket', isLocalUser: false, role } })
const refusal = ({ error }: Message): unknown => error?.data?.['code']
const isQuestion = ({ method }: Message) => method === 'session/request_permission'
const stdioServer = { name: 'x', command: '/bin/true', args: [], env: [] }

beforeEach(async () => {
  street = openStreet()
  owner = await street.client()
  sessionId = await create(owner)
})

describe('a new session', () => {
  test('is only created in a directory that has a session already; admin may name any', async () => {
    const foreign = { cwd: '/tmp', mcpServers: [] }
    expect(await create(await as('prompt'))).toMatch(/./u)
    for (const role of ['prompt', 'approve'] as const)
      expect(refusal(await (await as(role)).request('session/new', foreign))).toBe('DIRECTORY_FOREIGN')
    expect(refusal(await (await as('admin')).request('session/new', foreign))).toBeUndefined()
  })

  test.each(['//', '/./', '/tmp/..'])('is not created in %s, another spelling of such a directory', async (path) => {
    const answer = await (await as('approve')).request('session/new', { cwd: path, mcpServers: [] })
    expect(refusal(answer)).toBe('DIRECTORY_FOREIGN')
  })

  test('has no MCP server and no additional directory of its client, unless its role is admin', async () => {
    const approver = await as('approve')
    const servers = { cwd, mcpServers: [stdioServer] }
    const directories = { cwd, mcpServers: [], additionalDirectories: ['/tmp'] }
    expect(refusal(await approver.request('session/new', servers))).toBe('ROLE_TOO_LOW')
    expect(refusal(await approver.request('session/new', directories))).toBe('DIRECTORY_FOREIGN')
    expect(refusal(await (await as('admin')).request('session/new', directories))).toBeUndefined()
  })

  test('has the MCP servers of the settings, which every role may name', async () => {
    const initialize = { protocolVersion: 1, clientCapabilities: {} }
    const principal = { transport: 'websocket', isLocalUser: false, role: 'prompt' } as const
    const mcpServersOf = async (directory: string) => (directory === cwd ? ['notes'] : [])
    const prompter = await street.client(initialize, { principal, mcpServersOf })
    const named = (...mcpServers: readonly Fields[]) => prompter.request('session/new', { cwd, mcpServers })
    expect((await named({ name: 'notes' })).result).toMatchObject({ sessionId: expect.any(String) as string })
    expect(refusal(await named({ name: 'notes' }, { name: 'other' }))).toBe('MCP_SERVER_UNKNOWN')
    expect(refusal(await named({ ...stdioServer, name: 'notes' }))).toBe('ROLE_TOO_LOW')
    const opened = await prompter.request('session/resume', opening(sessionId, { mcpServers: [{ name: 'notes' }] }))
    expect(opened.error).toBeUndefined()
    // Settings change while a session is open elsewhere, and its relay opens it again as before.
    const renamed = opening(sessionId, { mcpServers: [{ name: 'gone' }] })
    expect((await prompter.request('session/resume', renamed)).error).toBeUndefined()
  })

  test('cannot have a script of its client as agent, unless its role is admin', async () => {
    const meta = { _meta: { 'parley/agent': 'script:/tmp/x.jsonl' } }
    expect(refusal(await (await as('approve', meta)).request('session/new', { cwd, mcpServers: [] }))).toBe(
      'ROLE_TOO_LOW',
    )
    const later = { cwd, mcpServers: [], ...meta }
    expect(refusal(await (await as('approve')).request('session/new', later))).toBe('ROLE_TOO_LOW')
    expect(refusal(await (await as('admin', meta)).request('session/new', { cwd, mcpServers: [] }))).not.toBe(
      'ROLE_TOO_LOW',
    )
  })
})

describe('a client with the role read opens a stored session', () => {
  test.each(['session/load', 'session/resume'])('with %s', async (method) => {
    expect((await (await as('read')).request(method, opening(sessionId))).error).toBeUndefined()
  })

  test.each<readonly [string, Fields, Fields]>([
    ['MCP servers', { mcpServers: [stdioServer] }, {}],
    ['prompts to wait for', { _meta: { 'parley/prompts': [{ requestId: 7, promptId: 'p' }] } }, {}],
    ['another agent', {}, { _meta: { 'parley/agent': 'guide', 'parley/agentChosen': true } }],
  ])('without %s', async (_what, more, initialize) => {
    const reader = await as('read', initialize)
    for (const method of ['session/load', 'session/resume'])
      expect(refusal(await reader.request(method, opening(sessionId, more)))).toBe('ROLE_TOO_LOW')
  })
})

test('an unknown MCP server is noted in the session for the role prompt, and not for the role read', async () => {
  const seqAs = async (role: Role) => {
    const renamed = opening(sessionId, { mcpServers: [{ name: 'Buy now at evil.example' }] })
    const { result } = await (await as(role)).request('session/load', renamed)
    return (result?.['_meta'] as Fields | undefined)?.['parley/seq']
  }
  const before = await seqAs('read')
  expect(await seqAs('read')).toBe(before)
  expect(await seqAs('prompt')).toBe(Number(before) + 1)
})

test('only clients that may approve get permission requests; the others see the call', async () => {
  street.house.agent.script = async (turn) => {
    const options = [option('allow_once'), option('reject_once')]
    await turn.ask({ toolCallId: 'c1', patch: { title: 'Delete all' }, options, state: 1 })
    await turn.say(text('Done'))
    return 'end_turn'
  }
  const [reader, prompter] = [await as('read'), await as('prompt')]
  await reader.request('session/load', opening(sessionId))
  await prompter.request('session/load', opening(sessionId))
  await owner.leave()
  const asked = prompter.ask('session/prompt', prompt(sessionId, 'Go'))
  await quiet()
  const approver = await as('approve')
  await approver.request('session/load', opening(sessionId))
  const { id } = await approver.until(isQuestion)
  for (const client of [reader, prompter]) expect(client.received.filter(isQuestion)).toEqual([])
  // An answer that it sends anyway is ignored.
  prompter.send({ id, result: { outcome: { outcome: 'selected', optionId: 'reject_once' } } })
  await quiet()
  expect(reader.text).toBe('')
  approver.send({ id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } })
  expect((await prompter.answerTo(asked)).result).toEqual({ stopReason: 'end_turn' })
  expect(reader.text).toBe('Done')
})
