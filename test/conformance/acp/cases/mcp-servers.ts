/** The MCP servers that a client brings along. */
import { type Case, every, first, one, unless } from '../case.ts'
import { listenHttp, overSse, startHttpServer } from '../../../fixtures/mcp/http-server.ts'
import { callOf, witness } from '../mcp.ts'
import { accepting, onUpdate, refusing } from '../mutant.ts'
import { fieldsOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { Fault } from '../verdict.ts'
import { isRefused } from './json-rpc.ts'

const told = (stage: Stage): string => JSON.stringify(updatesOf(stage.transcript))

export const mcpCases: readonly Case[] = [
  one('A-MC-1', 'a stdio server gets its arguments and its environment, and its tools work', {
    script: [callOf('env')],
    play: async (stage) => {
      const { entry } = witness(stage, 'own', { env: [{ name: 'COLOUR', value: 'mauve' }] })
      await stage.prompt(await stage.session({ mcpServers: [entry] }))
      return told(stage)
    },
    check: (text) => unless(text.includes('mauve'), 'the environment did not arrive'),
    mutant: { on: { call: 'session/update', update: 'tool_call_update' }, each: true, drop: 'params.update' },
  }),
  one('A-MC-2', 'a server over HTTP gets its headers with every request', {
    play: async (stage) => {
      const server = await startHttpServer({ quiet: true })
      stage.later(() => server.close())
      stage.needs('agentCapabilities.mcpCapabilities.http')
      const headers = [{ name: 'X-Colour', value: 'mauve' }]
      await stage.session({ mcpServers: [{ type: 'http', name: 'far', url: server.url, headers }] })
      await untilSeen(stage, () => server.requests.length > 2)
      return server.requests.map((one) => one.headers['x-colour'])
    },
    check: (values) => every(values, (value) => value === 'mauve', 'a request without the header'),
    mutant: refusing('session/new'),
  }),
  one('A-MC-3', 'a server over SSE is accepted if the agent advertises SSE, and otherwise refused', {
    play: async (stage) => {
      const { sse } = fieldsOf(fieldsOf(stage.offer['agentCapabilities'])['mcpCapabilities'])
      const server = { type: 'sse', name: 'old', url: 'http://127.0.0.1:9/sse', headers: [] }
      const { error } = await stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [server] })
      return { offered: sse === true, code: error?.code }
    },
    check: ({ offered, code }) =>
      unless(offered ? code !== -32_602 : code === -32_602, offered ? 'it was refused' : 'it was not refused'),
    mutant: { on: { response: 'initialize' }, set: 'result.agentCapabilities.mcpCapabilities.sse', to: 'toggled' },
  }),
  one('A-MC-3', 'the tools of a server over SSE work, and it gets its headers with every request', {
    tags: ['ours'],
    script: [callOf('do')],
    play: async (stage) => {
      const server = await listenHttp(overSse())
      stage.later(() => server.close())
      const headers = [{ name: 'X-Colour', value: 'mauve' }]
      await stage.prompt(await stage.session({ mcpServers: [{ type: 'sse', name: 'old', url: server.url, headers }] }))
      return { text: told(stage), colours: server.requests.map((one) => one.headers['x-colour']) }
    },
    check: ({ text, colours }) =>
      first(
        unless(text.includes('"done"'), 'its tool did not work'),
        unless(colours.length > 3 && colours.every((colour) => colour === 'mauve'), 'a request without the header'),
      ),
    mutant: onUpdate('tool_call_update', 'content', []),
  }),
  one('A-MC-4', 'founding exchange B: servers of each kind, as they are written there, are all connected to', {
    tags: ['ours'],
    play: async (stage) => {
      const [pipe, far, old] = [
        witness(stage, 'pipe'),
        await startHttpServer({ quiet: true }),
        await listenHttp(overSse()),
      ]
      stage.later(() => far.close())
      stage.later(() => old.close())
      const headers = [{ name: 'Authorization', value: 'Bearer x' }]
      const mcpServers = [
        { ...pipe.entry, env: [{ name: 'A', value: 'b' }] },
        { type: 'http', name: 'far', url: far.url, headers },
        { type: 'sse', name: 'old', url: old.url, headers },
      ]
      const sessionId = await stage.session({ mcpServers, additionalDirectories: [stage.dir('lib')] })
      await pipe.hears('tools/list')
      await untilSeen(stage, () => far.count('tools/list') > 0 && old.requests.length > 3)
      return sessionId
    },
    check: (id) => unless(id !== '', 'no session'),
    mutant: refusing('session/new'),
  }),
  one('A-MC-4', 'the agent connects to every server that it is given', {
    play: async (stage) => {
      const servers = ['one', 'two', 'three'].map((name) => witness(stage, name))
      await stage.session({ mcpServers: servers.map(({ entry }) => entry) })
      for (const server of servers) await server.hears('tools/list')
      return servers.length
    },
    check: (count) => unless(count === 3, 'not all'),
    mutant: refusing('session/new'),
  }),
  one('A-MC-5', 'a transport that is not advertised is refused', {
    play: ({ a, cwd }) => a.request('session/new', { cwd, mcpServers: [{ type: 'acp', name: 'x', id: 'x' }] }),
    check: isRefused(-32_602),
    mutant: accepting('session/new', { sessionId: 's' }),
  }),
  one('A-MC-5', 'one bad entry refuses the request, and nothing is started', {
    play: async (stage) => {
      const good = witness(stage, 'good')
      const answer = await stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [good.entry, { name: 'bad' }] })
      await stage.a.quiet(150)
      return { answer, heard: good.heard().length }
    },
    check: ({ answer, heard }) => first(isRefused(-32_602)(answer), unless(heard === 0, 'a server was started')),
    mutant: accepting('session/new', { sessionId: 's' }),
  }),
  one('A-MC-6', 'a session opens although a server cannot be started, and the client is notified of the failure', {
    script: [callOf('echo', { text: 'x' })],
    play: async (stage) => {
      const gone = { name: 'gone', command: '/no/such/server', args: [], env: [] }
      const { stopReason } = await stage.prompt(await stage.session({ mcpServers: [gone] }))
      return { stopReason, text: told(stage) }
    },
    check: ({ stopReason, text }) =>
      first(unless(stopReason === 'end_turn', 'the turn failed'), unless(text.includes('gone'), 'nobody is told')),
    mutant: onUpdate('tool_call_update', 'content', []),
  }),
  one('A-MC-6', 'a bare command name is looked up on PATH', {
    tags: ['ours'],
    play: async (stage) => {
      const bare = witness(stage, 'bare')
      await stage.session({ mcpServers: [{ ...bare.entry, command: 'node' }] })
      return bare.hears('initialize')
    },
    check: (heard) => unless(heard !== undefined, 'it was not started'),
    mutant: refusing('session/new'),
  }),
  one('A-MC-7', 'a load connects to the servers that it names, not to earlier ones', {
    play: async (stage) => {
      stage.needs('agentCapabilities.loadSession')
      const [before, after] = [witness(stage, 'before'), witness(stage, 'after')]
      const sessionId = await stage.talked({ mcpServers: [before.entry] })
      await before.hears('tools/list')
      await stage.a.request('session/close', { sessionId })
      const { length } = before.heard()
      const params = { sessionId, cwd: stage.cwd, mcpServers: [after.entry] }
      await stage.ask('session/load', params)
      await after.hears('tools/list')
      return before.heard().length - length
    },
    check: (more) => unless(more === 0, 'a server of before was started again'),
    mutant: refusing('session/load'),
  }),
  ...(['session/load', 'session/resume'] as const).map((method) =>
    one(method === 'session/load' ? 'A-LD-4' : 'A-RS-2', `the tools of the servers that ${method} names work at once`, {
      script: [callOf('echo', { text: 'the echo' })],
      play: async (stage) => {
        const [before, after] = [witness(stage, 'before'), witness(stage, 'after')]
        const sessionId = await stage.talked({ mcpServers: [before.entry] })
        await stage.again()
        await stage.a.request('session/close', { sessionId })
        const params = { sessionId, cwd: stage.cwd, mcpServers: [after.entry] }
        await stage.ask(method, params)
        await stage.prompt(sessionId)
        return { text: told(stage), ran: after.heard().some((one) => one['method'] === 'tools/call') }
      },
      check: ({ text, ran }) =>
        first(unless(ran, 'the tool did not run'), unless(text.includes('the echo'), 'its result is not told')),
      mutant: refusing(method),
    }),
  ),
  one('A-MC-7', 'a resume without servers starts none', {
    play: async (stage) => {
      stage.needs('agentCapabilities.sessionCapabilities.resume')
      const server = witness(stage, 'before')
      const sessionId = await stage.talked({ mcpServers: [server.entry] })
      await server.hears('tools/list')
      await stage.a.request('session/close', { sessionId })
      const { length } = server.heard()
      await stage.ask('session/resume', { sessionId, cwd: stage.cwd })
      await stage.prompt(sessionId)
      return server.heard().length - length
    },
    check: (more) => unless(more === 0, 'a server of before was started again'),
    mutant: refusing('session/resume'),
  }),
]

async function untilSeen(stage: Stage, seen: () => boolean): Promise<void> {
  const end = performance.now() + stage.patience
  while (!seen()) {
    if (performance.now() > end) throw new Fault('the server heard nothing')
    await stage.a.anythingWithin(30)
  }
}
