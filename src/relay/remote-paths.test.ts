/** Messages between an editor and a server on another machine: paths are translated, files and terminals are not served. */
import { expect, test } from 'vitest'
import { RemotePaths, type RemotePathsOptions, parseMap } from './remote-paths.ts'

type Json = Readonly<Record<string, unknown>>

function between(options: Partial<RemotePathsOptions> = {}) {
  const said: string[] = []
  const maps = ['/Users/ada=/home/ada', '/Users/ada/app=/srv/app'].flatMap((text) => parseMap(text) ?? [])
  const say = (text: string) => void said.push(text)
  const remotePaths = new RemotePaths({ server: 'studio', maps, lends: false, say, ...options })
  const there = (message: Json) => JSON.parse(remotePaths.fromEditor(JSON.stringify(message))) as Json
  const back = (message: Json) => JSON.parse(remotePaths.toEditor(JSON.stringify(message))) as Json
  return { said, there, back }
}

const capabilities = { fs: { readTextFile: true }, terminal: true, elicitation: { form: {} } }
const greeting = { id: 0, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: capabilities } }
const greeted = (role: string): Json => ({
  id: 0,
  result: { agentInfo: { name: 'parley' }, agentCapabilities: { _meta: { parley: { role } } } },
})

test('files and terminals of the editor are advertised only if the setting allows it', () => {
  const offered = (lends: boolean) => between({ lends }).there(greeting)['params'] as Json
  expect(offered(false)['clientCapabilities']).toEqual({ elicitation: { form: {} } })
  expect(offered(true)['clientCapabilities']).toEqual(capabilities)
})

test.each([
  ['the longest directory that fits', '/Users/ada/app/x.ts', '/srv/app/x.ts'],
  ['another one', '/Users/ada/notes', '/home/ada/notes'],
  ['the directory itself', '/Users/ada', '/home/ada'],
  ['none that only begins alike', '/Users/adam', '/Users/adam'],
  ['an address of a file', 'file:///Users/ada/a%20b.txt', 'file:///home/ada/a%20b.txt'],
])('a path is translated by %s, in both directions', (_what, here, there) => {
  const { there: out, back } = between()
  const about = (path: string) => ({ method: 'x', params: { path } })
  expect(out(about(here))).toEqual(about(there))
  expect(back(about(there))).toEqual(about(here))
})

test('content, input and output of an agent are not translated', () => {
  const { back } = between()
  const content = { type: 'text', text: '/srv/app' }
  const of = (path: string) => {
    const update = { content, rawInput: { path: '/srv/app/x' }, locations: [{ path }] }
    return { method: 'session/update', params: { update } }
  }
  expect(back(of('/srv/app/x'))).toEqual(of('/Users/ada/app/x'))
})

const servers = [
  { name: 'mine', command: '/bin/tool', args: [], env: [] },
  { type: 'http', name: 'web', url: 'https://mcp.example', headers: [] },
  { name: 'notes' },
]
const opening = { id: 1, method: 'session/new', params: { cwd: '/Users/ada', mcpServers: servers } }

test.each([
  [
    'admin',
    ['web', 'notes'],
    'An MCP server of the editor is left out: commands of this machine cannot be started on studio.',
  ],
  [
    'approve',
    ['notes'],
    '2 MCP servers of the editor are left out: with the role approve, studio has only the MCP servers of its own settings.',
  ],
])('with the role %s it sends the MCP servers %j, and names once those that it leaves out', (role, names, sentence) => {
  const { said, there, back } = between()
  back(greeted(role))
  const { mcpServers } = there(opening)['params'] as { readonly mcpServers: readonly Json[] }
  expect(mcpServers.map(({ name }) => name)).toEqual(names)
  there({ ...opening, id: 2 })
  expect(said).toEqual([sentence])
})

test('a missing directory is refused with the flag --map; other errors pass unchanged', () => {
  const { there, back } = between({ maps: [] })
  there(opening)
  const data = { code: 'DIRECTORY_MISSING', what: 'cwd' }
  expect(back({ id: 1, error: { code: -32602, message: 'x', data } })).toMatchObject({
    id: 1,
    error: { data: { code: 'CWD_ELSEWHERE' }, message: expect.stringContaining('--map /Users/ada=') as string },
  })
  const again = { id: 1, error: { code: -32602, message: 'x', data } }
  expect(back(again)).toEqual(again)
})
