/** session/new: directories, ids, and what may come when. */
import { join } from 'node:path'
import type { Message } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { callOf, witness } from '../mcp.ts'
import { accepting, intruding, onResult, refusing, update } from '../mutant.ts'
import { fieldsOf } from '../record.ts'
import { isRefused } from './json-rpc.ts'

const PARAMS = -32_602

export const newCases: readonly Case[] = [
  one('A-NW-1', 'every session has a unique id, also after a restart', {
    play: async (stage) => {
      const before = [await stage.session(), await stage.session()]
      await stage.again()
      return [...before, await stage.session()]
    },
    check: (ids) => unless(new Set(ids).size === 3 && !ids.includes(''), `the ids ${ids.join(', ')}`),
    mutant: { ...onResult('session/new', 'sessionId', 'same'), each: true },
  }),
  ...['work', './work', '', '~/work', 'file:///tmp'].map((cwd) =>
    one('A-NW-2', `the working directory ${JSON.stringify(cwd)} is refused: it is not absolute`, {
      play: ({ a }) => a.request('session/new', { cwd, mcpServers: [] }),
      check: isRefused(PARAMS),
      mutant: accepting('session/new', { sessionId: 's' }),
    }),
  ),
  one('A-NW-2', 'a tool server runs in the working directory, wherever the agent was started', {
    script: [callOf('env')],
    play: async (stage) => {
      const { entry } = witness(stage, 'where')
      const told = await stage.turn(undefined, { mcpServers: [entry] })
      return { cwd: stage.cwd, told: JSON.stringify(told) }
    },
    check: ({ cwd, told }) =>
      unless(told.includes(`\\"cwd\\":\\"${cwd}\\"`) || told.includes(cwd), 'it runs elsewhere'),
    mutant: { on: { call: 'session/update', update: 'tool_call_update' }, each: true, drop: 'params.update' },
  }),
  one('A-NW-3', 'a relative path is relative to the working directory', {
    script: [{ terminal: { command: 'pwd' } }],
    client: { terminal: true },
    play: async (stage) => {
      stage.answers(terminalAnswers)
      await stage.prompt(await stage.session())
      const made = stage.a.received.find(({ method }) => method === 'terminal/create')
      return { asked: fieldsOf(made?.params)['cwd'], cwd: stage.cwd, made }
    },
    check: ({ asked, cwd, made }) =>
      first(
        unless(made !== undefined, 'no terminal was asked for'),
        unless(asked === undefined || asked === null || asked === cwd, `it runs in ${String(asked)}`),
      ),
    mutant: { on: { call: 'terminal/create' }, set: 'params.cwd', to: '/elsewhere' },
  }),
  one('A-NW-4', 'nothing outside the root set is read or written with the client’s files', {
    script: [{ writeFile: { path: '/outside/of/all.txt', content: 'x' } }, { chunk: 'Done.' }],
    client: { fs: { readTextFile: true, writeTextFile: true } },
    play: async (stage) => {
      stage.answers({ 'fs/write_text_file': () => ({}) })
      await stage.prompt(await stage.session())
      return stage.a.received.filter(({ method }) => method === 'fs/write_text_file')
    },
    check: (writes) => unless(writes.length === 0, 'it wrote outside the root set'),
    mutant: intruding('fs/write_text_file', { path: '/outside/x', content: '' }),
  }),
  one('A-NW-5', 'modes and options, if there are any, are valid by the schema', {
    script: [
      {
        agent: {
          modes: {
            currentModeId: 'ask',
            availableModes: [
              { id: 'ask', name: 'Ask' },
              { id: 'code', name: 'Code' },
            ],
          },
        },
      },
    ],
    play: (stage) => stage.session(),
    check: (seen, transcript) => first(law('A-CV-5')(seen, transcript), law('A-MD-1')(seen, transcript)),
    mutant: onResult('session/new', 'modes', { currentModeId: 'gone', availableModes: [{ id: 'ask', name: 'Ask' }] }),
  }),
  one('A-NW-6', 'a request without mcpServers is refused', {
    play: (stage) => stage.a.request('session/new', { cwd: stage.cwd }),
    check: isRefused(PARAMS),
    mutant: accepting('session/new', { sessionId: 's' }),
  }),
  one('A-NW-6', 'mcpServers that are null count as an empty list', {
    play: (stage) => stage.session({ mcpServers: null }),
    check: (id) => unless(id !== '', 'no session'),
    mutant: refusing('session/new'),
  }),
  one('A-NW-7', 'no update of a session comes before its id', {
    play: async (stage) => {
      await stage.session()
      await stage.a.quiet(150)
      const { received } = stage.a
      const answer = received.findIndex(({ result }) => result?.['sessionId'] !== undefined)
      return received.slice(0, answer).filter(({ method }) => method === 'session/update')
    },
    check: (early: readonly Message[]) => unless(early.length === 0, 'an update came before the id'),
    mutant: {
      on: { result: 'session/new' },
      before: update({ sessionUpdate: 'available_commands_update', availableCommands: [] }),
    },
  }),
  one('A-NW-2', 'a missing working directory is refused', {
    tags: ['ours'],
    play: (stage) => stage.a.request('session/new', { cwd: join(stage.directory, 'gone'), mcpServers: [] }),
    check: isRefused(PARAMS),
    mutant: accepting('session/new', { sessionId: 's' }),
  }),
]

/** A terminal that has ended before it began. */
export const terminalAnswers = {
  'terminal/create': () => ({ terminalId: 'term-1' }),
  'terminal/output': () => ({ output: 'out\n', truncated: false, exitStatus: { exitCode: 0, signal: null } }),
  'terminal/wait_for_exit': () => ({ exitCode: 0, signal: null }),
  'terminal/kill': () => ({}),
  'terminal/release': () => ({}),
}
