/** What our client says first, what it never says, and how it leaves. */
import { afterEach, describe, expect, test } from 'vitest'
import { type Book, CLOSED, ENDS, NEW, Scene, able, says } from './scene.ts'

const scenes: Scene[] = []
const scene = (book: Book): Scene => {
  const made = new Scene(book)
  scenes.push(made)
  return made
}
afterEach(() => {
  for (const made of scenes.splice(0)) made.close()
})

const TURN: Book = { 'session/new': NEW, 'session/prompt': [says('Done.'), ENDS] }

describe('the first exchange', () => {
  test('C-TR-1 C-IN-1 C-IN-2 C-IN-5 says our version, who we are, and exactly what we serve', async () => {
    const agent = scene(TURN)
    const { code, stdout } = await agent.run()
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Done.') as string })
    expect(agent.methods).toEqual(['initialize', 'session/new', 'session/prompt'])
    const { protocolVersion, clientInfo, clientCapabilities } = agent.paramsOf('initialize')
    expect(protocolVersion).toBe(1)
    expect(clientInfo).toMatchObject({ name: 'parley', title: 'Parley' })
    const { _meta, ...declared } = clientCapabilities as Record<string, unknown>
    expect(declared).toEqual({
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
      session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
    })
  })

  test('C-TR-2 ends by closing the agent’s stdin', async () => {
    const agent = scene(TURN)
    await agent.run()
    expect(agent.heard.at(-1)).toBe(CLOSED)
  })

  test('C-IN-3 an agent of version 9 is closed, with an error for the user', async () => {
    const agent = scene({ ...TURN, initialize: [{ result: { protocolVersion: 9 } }] })
    const { code, stderr } = await agent.run()
    expect(code).not.toBe(0)
    expect(stderr).toContain('9')
    expect(agent.heard.map((one) => (typeof one === 'string' ? one : one.method))).toEqual(['initialize', CLOSED])
  })

  test('C-IN-4 C-SE-1 what the agent does not offer is never asked for', async () => {
    const agent = scene(TURN)
    const { code, stderr } = await agent.run('--session', 's')
    expect(code).toBe(1)
    expect(stderr).toContain('session/load')
    expect(agent.methods).toEqual(['initialize'])
    const client = await scene(TURN).connect()
    const asked = [
      client.closeSession('s'),
      client.deleteSession('s'),
      client.sessions().next(),
      client.rename('s', 't'),
    ]
    for (const one of await Promise.allSettled(asked))
      expect(one).toMatchObject({ reason: { code: 'CAPABILITY_MISSING' } })
  })

  test('C-SE-1 no MCP server over HTTP or SSE and no further directory is sent to an agent that takes none', async () => {
    const agent = scene({ ...TURN, initialize: able({ loadSession: true }), 'session/load': [{ result: {} }] })
    await agent.run()
    expect(agent.paramsOf('session/new')).toEqual({ cwd: agent.cwd, mcpServers: [] })
    const client = await agent.connect()
    const wide = client.loadSession({ sessionId: 's', cwd: agent.cwd, additionalDirectories: ['/lib'] })
    await expect(wide).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    expect(agent.methods).not.toContain('session/load')
  })

  test('C-AU-1 C-AU-2 C-AU-3 an agent that needs a login is reported, and no credentials are sent to it', async () => {
    const terminal = { type: 'terminal', id: 'login', name: 'Log in', args: ['--login'] }
    const agent = scene({
      initialize: able({ auth: {} }, { authMethods: [terminal] }),
      'session/new': [{ error: { code: -32_000, message: 'Authentication required' } }],
    })
    const { code, stderr } = await agent.run()
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Authentication required') as string })
    expect(agent.methods).toEqual(['initialize', 'session/new'])
  })

  test('an older agent’s `mcp` is read as `mcpCapabilities`', async () => {
    const client = await scene({ initialize: able({ mcp: { http: true, sse: true } }) }).connect()
    expect(client.can.mcp).toEqual({ http: true, sse: true })
  })

  test('an agent that ends at once is reported with its exit status', async () => {
    const agent = scene({ initialize: [{ exit: 7 }] })
    const { code, stderr } = await agent.run()
    expect(code).not.toBe(0)
    expect(stderr).toContain('exit code 7')
  })
})

describe('sessions', () => {
  const offered = able({
    loadSession: true,
    sessionCapabilities: { list: {}, additionalDirectories: {} },
  })

  test('C-SE-2 C-SE-6 a load names an absolute directory, takes `null` for an answer, and has all that came before it', async () => {
    const agent = scene({
      ...TURN,
      initialize: able({ loadSession: true }),
      'session/load': [says('Before.', 'user_message_chunk'), says('Then.'), { result: null }],
    })
    const { code, stdout } = await agent.run('--session', 's', '--json')
    expect(code).toBe(0)
    expect(agent.paramsOf('session/load')).toMatchObject({ sessionId: 's', cwd: agent.cwd, mcpServers: [] })
    expect(stdout.indexOf('Before.')).toBeLessThan(stdout.indexOf('Then.'))
    expect(stdout.indexOf('Then.')).toBeLessThan(stdout.indexOf('Done.'))
  })

  test('C-SE-3 directories are named once, and not that which is the working directory', async () => {
    const agent = scene({ initialize: offered, 'session/load': [{ result: {} }] })
    const client = await agent.connect()
    await client.loadSession({ sessionId: 's', cwd: '/w', additionalDirectories: ['/w', '/b', '/a', '/b'] })
    expect(agent.paramsOf('session/load')['additionalDirectories']).toEqual(['/b', '/a'])
  })

  test('C-SE-4 C-SE-5 a list is walked by the agent’s own cursors, and each entry is as it came', async () => {
    const first = { sessions: [{ sessionId: 'a', cwd: '/w', additionalDirectories: ['/x'] }], nextCursor: 'π=+/ ' }
    const agent = scene({ initialize: offered, 'session/list': [{ result: first }] })
    const client = await agent.connect()
    const sessions = client.sessions()
    expect((await sessions.next()).value).toEqual(first.sessions[0])
    void sessions.next()
    await agent.until((one) => typeof one !== 'string' && one.params?.['cursor'] === 'π=+/ ')
  })

  test('C-SE-5 a page without a cursor is the last', async () => {
    const agent = scene({ initialize: offered, 'session/list': [{ result: { sessions: [] } }] })
    const client = await agent.connect()
    expect((await client.sessions().next()).done).toBe(true)
    expect(agent.methods).toEqual(['initialize', 'session/list'])
  })
})
