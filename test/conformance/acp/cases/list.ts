/** session/list, session/delete and session/close: the life of sessions from outside. */
import { isAbsolute } from 'node:path'
import type { Fields } from '../../../e2e/message.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { witness } from '../mcp.ts'
import { accepting, onResult, refusing } from '../mutant.ts'
import { fieldsOf, listOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { isRefused } from './json-rpc.ts'

const can = (what: string): string => `agentCapabilities.sessionCapabilities.${what}`

async function listed(stage: Stage, params: Fields = {}): Promise<readonly Fields[]> {
  stage.needs(can('list'))
  const found: Fields[] = []
  let cursor: unknown
  do {
    const answer = await stage.a.request('session/list', { ...params, ...(cursor === undefined ? {} : { cursor }) })
    const page = stage.mustWork(answer, 'session/list')
    found.push(...listOf(page['sessions']))
    cursor = page['nextCursor'] ?? undefined
  } while (cursor !== undefined && found.length < 2000)
  return found
}

const ids = (sessions: readonly Fields[]): readonly unknown[] => sessions.map(({ sessionId }) => sessionId)

export const listCases: readonly Case[] = [
  one('A-LS-1', 'the list of a directory without sessions is empty', {
    play: async (stage) => {
      stage.needs(can('list'))
      return stage.ask('session/list', { cwd: stage.dir('empty') })
    },
    check: ({ sessions }) =>
      unless(Array.isArray(sessions) && sessions.length === 0, `it is ${JSON.stringify(sessions)}`),
    mutant: { on: { result: 'session/list' }, drop: 'result.sessions' },
  }),
  one('A-LS-2', 'the list of a directory has exactly its sessions', {
    play: async (stage) => {
      stage.needs(can('list'))
      const mine = await stage.talked()
      await stage.talked({ cwd: stage.dir('work/below') })
      await stage.talked({ cwd: stage.dir('work2') })
      return { mine, found: ids(await listed(stage, { cwd: stage.cwd })) }
    },
    check: ({ mine, found }) => unless(found.length === 1 && found[0] === mine, `found ${found.length}`),
    mutant: onResult('session/list', 'sessions', [{ sessionId: 'other', cwd: '/other' }]),
  }),
  one('A-LS-2', 'the list of a directory that is not absolute is refused', {
    play: async (stage) => {
      stage.needs(can('list'))
      return stage.a.request('session/list', { cwd: 'work' })
    },
    check: isRefused(-32_602),
    mutant: accepting('session/list', { sessions: [] }),
  }),
  one('A-LS-3', 'the list has the id, absolute directory and date of each session', {
    play: async (stage) => {
      await stage.talked()
      return listed(stage, { cwd: stage.cwd })
    },
    check: ([info]) =>
      first(
        unless(info !== undefined, 'the session is not listed'),
        unless(isAbsolute(String(info?.['cwd'])), `cwd is ${String(info?.['cwd'])}`),
        unless(isDate(info?.['updatedAt']), `updatedAt is ${String(info?.['updatedAt'])}`),
      ),
    mutant: onResult('session/list', 'sessions.0.updatedAt', 'yesterday'),
  }),
  one('A-LS-4', 'a list with an unknown cursor is refused', {
    play: async (stage) => {
      stage.needs(can('list'))
      return stage.a.request('session/list', { cursor: 'garbage!' })
    },
    check: isRefused(-32_602),
    mutant: accepting('session/list', { sessions: [] }),
  }),
  one('A-LS-5', 'the list is paged, with each session once, also while new ones are created', {
    tags: ['ours'],
    play: async (stage) => {
      const made: string[] = []
      for (let count = 0; count < 120; count += 1) made.push(await stage.session())
      const pages: (readonly unknown[])[] = []
      let cursor: unknown
      do {
        const answer = await stage.a.request('session/list', {
          cwd: stage.cwd,
          ...(cursor === undefined ? {} : { cursor }),
        })
        const page = stage.mustWork(answer, 'session/list')
        pages.push(ids(listOf(page['sessions'])))
        cursor = page['nextCursor']
        await stage.session()
      } while (cursor !== undefined && pages.length < 20)
      return { made, pages: pages.length, found: pages.flat(), cursor }
    },
    check: ({ made, pages, found, cursor }) =>
      first(
        unless(pages > 2, 'it is one page'),
        unless(new Set(found).size === found.length, 'a session is listed twice'),
        every(made, (id) => found.includes(id), 'a session is missing'),
        unless(cursor === undefined, 'the last page has a cursor'),
      ),
    mutant: onResult('session/list', 'sessions.0.sessionId', 'other'),
  }),
  one('A-LS-6', 'a list of sessions starts no tool server', {
    play: async (stage) => {
      const server = witness(stage, 'quiet')
      await stage.talked({ mcpServers: [server.entry] })
      await server.hears('initialize')
      await stage.again()
      // The first connection may still be asking for its tools: only a start says `initialize`.
      const starts = () => server.heard().filter(({ method }) => method === 'initialize').length
      const before = starts()
      await listed(stage)
      await stage.a.quiet(150)
      return starts() - before
    },
    check: (more) => unless(more === 0, 'an MCP server was started'),
    mutant: refusing('session/list'),
  }),
  one('A-LS-7', 'the list shows a session only to a client that may open it', {
    tags: ['company', 'ours'],
    play: async (stage) => {
      const mine = await stage.session()
      const other = await stage.another()
      const page = await stage.ask('session/list', { cwd: stage.cwd }, other)
      const opened = await other.request('session/resume', { sessionId: mine, cwd: stage.cwd })
      return { found: ids(listOf(page['sessions'])), mine, opened }
    },
    // There is one principal, the user whose socket it is: what is listed can be opened, by each of their clients.
    check: ({ found, mine, opened }) =>
      unless(found.includes(mine) === (opened.error === undefined), 'listed, but not to be opened'),
    mutant: refusing('session/resume'),
  }),
  one('A-LS-8', 'listed additional directories are complete, absolute and in order', {
    play: async (stage) => {
      stage.needs(can('additionalDirectories'))
      const more = [stage.dir('b'), stage.dir('a')]
      await stage.talked({ additionalDirectories: more })
      const [info] = await listed(stage, { cwd: stage.cwd })
      return { more, told: fieldsOf(info)['additionalDirectories'] }
    },
    check: ({ more, told }) =>
      unless(
        told === undefined || told === null || JSON.stringify(told) === JSON.stringify(more),
        `told ${JSON.stringify(told)}`,
      ),
    mutant: onResult('session/list', 'sessions.0.additionalDirectories', ['b']),
  }),
]

function isDate(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/u.test(value) &&
    !Number.isNaN(Date.parse(value))
  )
}

const ENDING_A_TURN = [
  ['A-DL-3', 'deleting a session whose turn runs ends the turn as cancelled', 'session/delete'],
  ['A-CL-1', 'closing a session ends its turn as cancelled', 'session/close'],
] as const

export const endCases: readonly Case[] = [
  one('A-DL-1', 'a deleted session is no longer listed', {
    play: async (stage) => {
      stage.needs(can('delete'))
      const sessionId = await stage.talked()
      const result = await stage.ask('session/delete', { sessionId })
      return { result, found: ids(await listed(stage, { cwd: stage.cwd })) }
    },
    check: ({ found }) => unless(found.length === 0, 'it is still listed'),
    mutant: onResult('session/list', 'sessions', [{ sessionId: 's', cwd: '/' }]),
  }),
  ...['no-such-session', 'not/a uuid', '汉'].map((sessionId) =>
    one('A-DL-2', `deleting ${sessionId}, which never was, is no error`, {
      play: async (stage) => {
        stage.needs(can('delete'))
        return stage.a.request('session/delete', { sessionId })
      },
      check: ({ error }) => unless(error === undefined, `refused: ${error?.message}`),
      mutant: refusing('session/delete', -32_002),
    }),
  ),
  one('A-DL-3', 'a deleted session cannot be loaded', {
    play: async (stage) => {
      stage.needs(can('delete'), 'agentCapabilities.loadSession')
      const sessionId = await stage.talked()
      await stage.ask('session/delete', { sessionId })
      return stage.a.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] })
    },
    check: isRefused(-32_002),
    mutant: accepting('session/load'),
  }),
  ...ENDING_A_TURN.map(([row, name, method]) =>
    one(row, name, {
      script: [{ chunk: 'on ' }, { sleepMs: 60_000 }],
      play: async (stage) => {
        const sessionId = await stage.session()
        const prompt = stage.begin(sessionId)
        await stage.told('agent_message_chunk')
        await stage.ask(method, { sessionId })
        return stage.a.answerTo(prompt)
      },
      check: ({ result }) => unless(result?.['stopReason'] === 'cancelled', 'the prompt did not end as cancelled'),
      mutant: onResult('session/prompt', 'stopReason', 'end_turn'),
    }),
  ),
  one('A-CL-2', 'closing an idle session is answered with an empty object', {
    play: async (stage) => {
      stage.needs(can('close'))
      const sessionId = await stage.session()
      return stage.a.request('session/close', { sessionId })
    },
    check: ({ result }) => unless(typeof result === 'object' && result !== null, 'no object'),
    mutant: onResult('session/close', '', null),
  }),
  one('A-CL-3', 'closing twice, or an unknown session, affects nothing else', {
    play: async (stage) => {
      stage.needs(can('close'))
      const [sessionId, other] = [await stage.session(), await stage.session()]
      await stage.a.request('session/close', { sessionId })
      await stage.a.request('session/close', { sessionId })
      await stage.a.request('session/close', { sessionId: 'no-such' })
      return stage.prompt(other)
    },
    check: ({ stopReason }) => unless(typeof stopReason === 'string', 'another session is gone'),
    mutant: { on: { result: 'session/prompt' }, drop: 'result.stopReason' },
  }),
  one('A-CL-4', 'a closed session is listed, and can be loaded', {
    play: async (stage) => {
      stage.needs(can('close'), 'agentCapabilities.loadSession')
      const sessionId = await stage.talked()
      await stage.ask('session/close', { sessionId })
      const found = ids(await listed(stage, { cwd: stage.cwd }))
      await stage.load(sessionId)
      return found.includes(sessionId)
    },
    check: (isListed) => unless(isListed, 'it is not listed'),
    mutant: onResult('session/list', 'sessions', []),
  }),
  one('A-CL-3', 'prompting a closed session is refused, with what to do', {
    tags: ['ours'],
    play: async (stage) => {
      const sessionId = await stage.session()
      await stage.a.request('session/close', { sessionId })
      return stage.a.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'on' }] })
    },
    check: ({ error }) =>
      unless(error?.data?.['code'] === 'SESSION_CLOSED', `the code is ${String(error?.data?.['code'])}`),
    mutant: { on: { error: 'session/prompt' }, set: 'error.data.code', to: 'OTHER' },
  }),
]
