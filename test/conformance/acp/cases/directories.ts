/** additionalDirectories and the root set. */
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, first, one, unless } from '../case.ts'
import { accepting, refusing } from '../mutant.ts'
import { fieldsOf, listOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { isRefused } from './json-rpc.ts'
import { terminalAnswers } from './new.ts'

export const NEEDED = 'agentCapabilities.sessionCapabilities.additionalDirectories'
/** A client that is asked for files. */
export const READS = { fs: { readTextFile: true, writeTextFile: true } }

export const BAD_LISTS: readonly (readonly [string, unknown])[] = [
  ['no list', '/tmp'],
  ['no text', [5]],
  ['empty', ['']],
  ['relative', ['lib']],
  ['one good, one relative', ['/tmp', 'lib']],
]

/** The script reads a file by the client's hand; the paths that the client was asked for. */
export async function readsOf(stage: Stage, sessionId: string, path: string): Promise<readonly unknown[]> {
  stage.answers({ 'fs/read_text_file': () => ({ content: 'the content' }) })
  const { mark } = stage.a
  stage.script([{ readFile: { path } }, { chunk: '.' }])
  await stage.prompt(sessionId)
  const { entries } = stage.a.since(mark)
  return entries
    .filter(({ message }) => message.method === 'fs/read_text_file')
    .map(({ message }) => message.params?.['path'])
}

/** A directory with a file in it. */
export function library(stage: Stage, name: string): { readonly directory: string; readonly file: string } {
  const directory = stage.dir(name)
  writeFileSync(join(directory, 'a.txt'), `the words of ${name}`)
  return { directory, file: join(directory, 'a.txt') }
}

/** A read of its own before the turn ends, of what lies outside. */
export const straying = {
  on: { result: 'session/prompt' },
  before: { id: 'r', method: 'fs/read_text_file', params: { sessionId: '$session', path: '/etc/passwd' } },
} as const

export const directoryCases: readonly Case[] = [
  one('A-AD-1', 'absolute directories are accepted by session/new', {
    play: async (stage) => {
      stage.needs(NEEDED)
      const additionalDirectories = [stage.dir('lib')]
      return stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [], additionalDirectories })
    },
    check: ({ error }) => unless(error === undefined, `refused: ${error?.message}`),
    mutant: refusing('session/new'),
  }),
  ...BAD_LISTS.map(([what, additionalDirectories]) =>
    one('A-AD-2', `directories that are ${what} are refused, and no session is made`, {
      play: async (stage) => {
        stage.needs(NEEDED)
        const answer = await stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [], additionalDirectories })
        const list = await stage.a.request('session/list', { cwd: stage.cwd })
        return { answer, made: listOf(fieldsOf(list.result)['sessions']).length }
      },
      check: ({ answer, made }) => first(isRefused(-32_602)(answer), unless(made === 0, 'a session was made')),
      mutant: accepting('session/new', { sessionId: 's' }),
    }),
  ),
  one('A-AD-3', 'a missing directory is refused, never silently ignored', {
    play: async (stage) => {
      stage.needs(NEEDED)
      const additionalDirectories = [join(stage.directory, 'gone')]
      return stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [], additionalDirectories })
    },
    check: ({ error }) => unless(error !== undefined, 'it was taken'),
    mutant: accepting('session/new', { sessionId: 's' }),
  }),
  one('A-AD-4', 'directories that a load does not name are outside again', {
    client: READS,
    script: [],
    play: async (stage) => {
      const { directory: lib, file } = library(stage, 'lib')
      const sessionId = await stage.session({ additionalDirectories: [lib] })
      const inside = await readsOf(stage, sessionId, file)
      await stage.again()
      await stage.load(sessionId)
      return { inside, outside: await readsOf(stage, sessionId, file) }
    },
    check: ({ inside, outside }) =>
      first(
        unless(inside.length === 1, 'the file inside was not read'),
        unless(outside.length === 0, 'a file of a directory that was not named again was read'),
      ),
    mutant: { ...straying, nth: 2 },
  }),
  one('A-AD-5', 'a load with another working directory is refused', {
    play: async (stage) => {
      stage.needs('agentCapabilities.loadSession')
      const sessionId = await stage.talked()
      await stage.again()
      return stage.a.request('session/load', { sessionId, cwd: stage.dir('other'), mcpServers: [] })
    },
    check: ({ error }) => unless(error !== undefined, 'it was taken'),
    mutant: accepting('session/load'),
  }),
  one('A-AD-6', 'without a path the working directory is meant, not an additional one', {
    client: { terminal: true },
    script: [{ terminal: { command: 'pwd' } }],
    play: async (stage) => {
      stage.answers(terminalAnswers)
      await stage.prompt(await stage.session({ additionalDirectories: [stage.dir('lib')] }))
      const made = stage.a.received.find(({ method }) => method === 'terminal/create')
      return { made, asked: made?.params?.['cwd'] ?? stage.cwd, cwd: stage.cwd }
    },
    check: ({ made, asked, cwd }) =>
      first(
        unless(made !== undefined, 'no terminal was asked for'),
        unless(asked === cwd, `it runs in ${JSON.stringify(asked)}`),
      ),
    mutant: { on: { call: 'terminal/create' }, set: 'params.cwd', to: '/elsewhere' },
  }),
  ...(['..', 'a name that begins alike', 'a link', 'a link to nothing'] as const).map((way) =>
    one('A-AD-7', `what is reached by ${way} is outside of the root set`, {
      client: READS,
      script: [],
      play: async (stage) => {
        const outside = stage.dir('work-more')
        writeFileSync(join(outside, 'secret.txt'), 'secret')
        symlinkSync(outside, join(stage.cwd, 'link'))
        symlinkSync(join(outside, 'later.txt'), join(stage.cwd, 'dangling'))
        const paths = {
          '..': `${stage.cwd}/sub/../../work-more/secret.txt`,
          'a name that begins alike': join(outside, 'secret.txt'),
          'a link': join(stage.cwd, 'link/secret.txt'),
          'a link to nothing': join(stage.cwd, 'dangling'),
        }
        return readsOf(stage, await stage.session(), paths[way])
      },
      check: (asked) => unless(asked.length === 0, `it read ${String(asked[0])}`),
      mutant: straying,
    }),
  ),
  one('A-AD-8', 'opening a session executes nothing inside its directories', {
    play: async (stage) => {
      const lib = stage.dir('lib')
      const proof = join(stage.directory, 'ran')
      for (const name of ['AGENTS.md', 'CLAUDE.md', '.parley.toml', '.mcp.json'])
        writeFileSync(join(lib, name), JSON.stringify({ mcpServers: { x: { command: 'touch', args: [proof] } } }))
      await stage.session({ cwd: lib })
      await stage.a.quiet(100)
      const list = await stage.a.request('_x/ran', {})
      return { answered: list.error !== undefined, proof }
    },
    check: ({ answered, proof }) =>
      first(unless(answered, 'no answer'), unless(!existsSync(proof), 'a program was run')),
    mutant: accepting('_x/ran'),
  }),
  one('A-AD-9', 'a fork has no directories of a client', {
    tags: ['ours'],
    client: READS,
    script: [],
    play: async (stage) => {
      const { directory: lib, file } = library(stage, 'lib')
      const source = await stage.session({ additionalDirectories: [lib] })
      const fork = await stage.ask('_parley/fork', { sessionId: source })
      const sessionId = String(fork['sessionId'])
      await stage.load(sessionId)
      return readsOf(stage, sessionId, file)
    },
    check: (asked) => unless(asked.length === 0, 'a file of the source’s directories was read'),
    mutant: straying,
  }),
]
