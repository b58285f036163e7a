/** More of additionalDirectories and the root set: what each way of opening a session says of them holds, and nothing from before. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fields } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { accepting, refusing } from '../mutant.ts'
import { fieldsOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { BAD_LISTS, NEEDED, READS, library, readsOf, straying } from './directories.ts'
import { isRefused } from './json-rpc.ts'

const OPENING = ['session/load', 'session/resume'] as const

async function open({ a, cwd }: Stage, method: string, more: { sessionId: string; additionalDirectories: unknown }) {
  return a.request(method, { cwd, mcpServers: [], ...more })
}

/** How a call of our own tool for reading ends. */
async function readByTool(stage: Stage, sessionId: string, path: string): Promise<Fields> {
  const { mark } = stage.a
  stage.script([{ toolCall: { name: 'read_file', arguments: { path } } }])
  await stage.prompt(sessionId)
  const { status, content } = fieldsOf(updatesOf(stage.a.since(mark), 'tool_call_update').at(-1))
  return { status, text: JSON.stringify(content ?? '') }
}

const failing = {
  on: { call: 'session/update', update: 'tool_call_update' },
  each: true,
  set: 'params.update.status',
} as const

export const rootCases: readonly Case[] = [
  ...OPENING.flatMap((method) => [
    one('A-AD-1', `absolute directories are taken by ${method}`, {
      play: async (stage) => {
        stage.needs(NEEDED)
        const sessionId = await stage.talked()
        await stage.again()
        return open(stage, method, { sessionId, additionalDirectories: [stage.dir('lib')] })
      },
      check: ({ error }) => unless(error === undefined, `refused: ${error?.message}`),
      mutant: refusing(method),
    }),
    one('A-AD-2', `directories that are none are refused by ${method} too`, {
      play: async (stage) => {
        stage.needs(NEEDED)
        const sessionId = await stage.talked()
        await stage.again()
        const answers = []
        for (const [, additionalDirectories] of BAD_LISTS)
          answers.push(await open(stage, method, { sessionId, additionalDirectories }))
        return answers
      },
      check: (answers) => first(...answers.map(isRefused(-32_602))),
      mutant: accepting(method),
    }),
    one('A-AD-4', `an empty list of ${method} is none: what was named before is outside`, {
      client: READS,
      script: [],
      play: async (stage) => {
        const { directory, file } = library(stage, 'lib')
        const sessionId = await stage.talked({ additionalDirectories: [directory] })
        await stage.again()
        stage.mustWork(await open(stage, method, { sessionId, additionalDirectories: [] }), method)
        return readsOf(stage, sessionId, file)
      },
      check: (asked) => unless(asked.length === 0, `it read ${String(asked[0])}`),
      mutant: { ...straying, nth: 2 },
    }),
    one('A-AD-5', `${method} with another working directory is refused, with other directories it is not`, {
      client: READS,
      script: [],
      play: async (stage) => {
        const [one, other] = [library(stage, 'one'), library(stage, 'other')]
        const sessionId = await stage.talked({ additionalDirectories: [one.directory] })
        await stage.again()
        const params = { sessionId, cwd: one.directory, mcpServers: [] }
        const elsewhere = await stage.a.request(method, params)
        stage.mustWork(await open(stage, method, { sessionId, additionalDirectories: [other.directory] }), method)
        return {
          elsewhere,
          replaced: await readsOf(stage, sessionId, other.file),
          dropped: await readsOf(stage, sessionId, one.file),
        }
      },
      check: ({ elsewhere, replaced, dropped }) =>
        first(
          unless(elsewhere.error !== undefined, 'another working directory was taken'),
          unless(replaced.length === 1, 'the directory that was named is outside'),
          unless(dropped.length === 0, 'a directory that was not named again is inside'),
        ),
      mutant: accepting(method),
    }),
  ]),
  one('A-NW-3', 'a tool reads a relative path below the working directory', {
    script: [],
    play: async (stage) => {
      writeFileSync(join(stage.cwd, 'here.txt'), 'the words of here')
      return readByTool(stage, await stage.session(), 'here.txt')
    },
    check: ({ status, text }) =>
      unless(
        status === 'completed' && String(text).includes('the words of here'),
        `it ${String(status)}: ${String(text)}`,
      ),
    mutant: { ...failing, to: 'failed' },
  }),
  one('A-NW-4', 'a tool reads nothing outside of the root set', {
    script: [],
    play: async (stage) => {
      const { file } = library(stage, 'outside')
      return readByTool(stage, await stage.session(), file)
    },
    check: ({ status, text }) =>
      unless(status === 'failed' && !String(text).includes('the words'), `it ${String(status)}: ${String(text)}`),
    mutant: { ...failing, to: 'completed' },
  }),
  one('A-AD-6', 'a relative path is not looked for in the other directories, an absolute one there is inside', {
    script: [],
    play: async (stage) => {
      const { directory, file } = library(stage, 'lib')
      const sessionId = await stage.session({ additionalDirectories: [directory] })
      const relative = await readByTool(stage, sessionId, 'a.txt')
      return { relative, absolute: await readByTool(stage, sessionId, file) }
    },
    check: ({ relative, absolute }) =>
      first(
        unless(relative['status'] === 'failed', 'it was found in another directory'),
        unless(String(fieldsOf(absolute)['text']).includes('the words of lib'), 'the file inside was not read'),
      ),
    mutant: { ...failing, to: 'completed' },
  }),
]
