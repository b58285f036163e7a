/** What the agent asks of the client: files, terminals, and forms. */
import { join } from 'node:path'
import type { Fields, Message } from '../../../e2e/message.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { intruding, onUpdate } from '../mutant.ts'
import { fieldsOf, textOf, updatesOf } from '../record.ts'
import type { Answers } from '../line-connection.ts'
import type { Stage } from '../stage.ts'
import { terminalAnswers } from './new.ts'

const READS = { fs: { readTextFile: true, writeTextFile: false } }
const WRITES = { fs: { readTextFile: false, writeTextFile: true } }

interface Asked {
  readonly said: string
  readonly calls: readonly Message[]
  readonly stage: Stage
}

/** A turn with these steps; what was said and what was asked of the client. */
async function turn(stage: Stage, steps: readonly Fields[], answers: Answers = {}): Promise<Asked> {
  stage.answers(answers)
  stage.script([...steps, { chunk: '.' }])
  await stage.prompt(await stage.session())
  const calls = stage.a.received.filter(({ id, method }) => id !== undefined && method !== undefined)
  return { said: textOf(updatesOf(stage.transcript)), calls, stage }
}

const reading = (stage: Stage, more: Fields = {}): readonly Fields[] => [
  { readFile: { path: join(stage.cwd, 'a.txt'), ...more } },
]
const writing = (stage: Stage): readonly Fields[] => [
  { writeFile: { path: join(stage.cwd, 'a.txt'), content: 'mine' } },
]
const methods = ({ calls }: Asked): string => calls.map(({ method }) => method).join(' ')
export const fileCases: readonly Case[] = [
  one('A-FS-1', 'a client that only reads is never asked to write', {
    client: READS,
    script: [],
    play: async (stage) =>
      turn(stage, [...writing(stage), ...reading(stage)], { 'fs/read_text_file': () => ({ content: 'x' }) }),
    check: (asked) => unless(methods(asked) === 'fs/read_text_file', `it was asked ${methods(asked)}`),
    mutant: intruding('fs/write_text_file', { path: '/x', content: '' }),
  }),
  one('A-FS-1', 'a client that only writes is never asked to read', {
    client: WRITES,
    script: [],
    play: async (stage) => turn(stage, [...writing(stage), ...reading(stage)], { 'fs/write_text_file': () => ({}) }),
    check: (asked) => unless(methods(asked) === 'fs/write_text_file', `it was asked ${methods(asked)}`),
    mutant: intruding('fs/read_text_file', { path: '/x' }),
  }),
  one('A-FS-2', 'the agent gets the client’s text of a file, from the requested line on', {
    tags: ['carried'],
    client: READS,
    script: [],
    play: async (stage) =>
      turn(stage, reading(stage, { line: 2, limit: 3 }), { 'fs/read_text_file': () => ({ content: 'not saved yet' }) }),
    check: ({ said, calls, stage }) => {
      const { path, line, limit, sessionId } = fieldsOf(calls[0]?.params)
      return first(
        unless(
          path === join(stage.cwd, 'a.txt') && line === 2 && limit === 3,
          `it asked for ${JSON.stringify(calls[0]?.params)}`,
        ),
        unless(typeof sessionId === 'string', 'it names no session'),
        unless(said.includes('not saved yet'), 'it did not use the answer'),
      )
    },
    mutant: { on: { call: 'fs/read_text_file' }, set: 'params.line', to: 0 },
  }),
  one('A-FS-2', 'a file that the client cannot read fails that step, not the turn', {
    client: READS,
    script: [],
    play: async (stage) =>
      turn(stage, reading(stage), {
        'fs/read_text_file': () => ({ error: { code: -32_002, message: 'No such file.' } }),
      }),
    check: ({ said }) => unless(said.includes('No such file'), `it said ${said}`),
    mutant: onUpdate('agent_message_chunk', 'content.text', '.'),
  }),
]

const RUN: readonly Fields[] = [{ terminal: { command: 'echo', args: ['hello'] } }]

export const terminalCases: readonly Case[] = [
  one('A-TM-1', 'a client without terminals is never asked for one', {
    script: [],
    play: async (stage) => turn(stage, RUN, terminalAnswers),
    check: (asked) => unless(!methods(asked).includes('terminal'), `it was asked ${methods(asked)}`),
    mutant: intruding('terminal/create', { command: 'echo' }),
  }),
  one('A-TM-2', 'a terminal is released when the command is done', {
    client: { terminal: true },
    script: [],
    play: async (stage) => turn(stage, RUN, terminalAnswers),
    check: (asked, transcript) =>
      first(unless(methods(asked).includes('terminal/create'), 'none was asked for'), law('A-TM-2')(asked, transcript)),
    mutant: { on: { call: 'terminal/release' }, set: 'params.terminalId', to: 'other' },
  }),
  one('A-TM-2', 'a terminal is released when the turn is cancelled', {
    tags: ['carried'],
    client: { terminal: true },
    script: RUN,
    play: async (stage) => {
      stage.answers({ ...terminalAnswers, 'terminal/wait_for_exit': () => undefined })
      const sessionId = await stage.session()
      const id = stage.begin(sessionId)
      await stage.a.until(({ method }) => method === 'terminal/wait_for_exit', 'a wait for the end')
      stage.a.notify('session/cancel', { sessionId })
      const answer = await stage.a.answerTo(id)
      await stage.a.until(({ method }) => method === 'terminal/release', 'a release')
      return answer
    },
    check: (answer, transcript) =>
      first(
        unless(answer.result?.['stopReason'] === 'cancelled', 'it is not cancelled'),
        law('A-TM-2')(answer, transcript),
      ),
    mutant: { on: { call: 'terminal/release' }, set: 'params.terminalId', to: 'other' },
  }),
  one('A-TM-2', 'a terminal is released when the client fails to wait for it', {
    client: { terminal: true },
    script: [],
    play: async (stage) =>
      turn(stage, RUN, {
        ...terminalAnswers,
        'terminal/wait_for_exit': () => ({ error: { code: -32_603, message: 'Broken.' } }),
      }),
    check: law('A-TM-2'),
    mutant: { on: { call: 'terminal/release' }, set: 'params.terminalId', to: 'other' },
  }),
  one('A-TM-3', 'a command that takes too long is killed, then asked for its output, then released', {
    client: { terminal: true },
    script: [],
    play: async (stage) => {
      stage.answers({ ...terminalAnswers, 'terminal/wait_for_exit': () => undefined })
      stage.script([{ terminal: { command: 'sleep', args: ['60'], timeoutMs: 100 } }, { chunk: '.' }])
      const id = stage.begin(await stage.session())
      await stage.a.until(({ method }) => method === 'terminal/kill', 'a kill')
      // What was killed has ended, and whoever waits for that hears so.
      const wait = stage.a.received.find(({ method }) => method === 'terminal/wait_for_exit')
      if (wait !== undefined) stage.a.send({ id: wait.id, result: { exitCode: null, signal: 'SIGKILL' } })
      await stage.a.answerTo(id)
      return stage.a.received.map(({ method }) => method).filter((method) => method?.startsWith('terminal/') === true)
    },
    check: (order) => {
      const at = (method: string): number => order.indexOf(method)
      return unless(
        at('terminal/kill') < at('terminal/output') && at('terminal/output') < at('terminal/release'),
        order.join(' '),
      )
    },
    mutant: {
      on: { call: 'terminal/kill' },
      before: { id: 'o', method: 'terminal/output', params: { sessionId: '$session', terminalId: 'term-1' } },
    },
  }),
  one('A-TC-6', 'a terminal is shown in its tool call before it is released', {
    client: { terminal: true },
    script: [],
    play: async (stage) => {
      await turn(stage, RUN, terminalAnswers)
      const shown = stage.a.received.findIndex(({ params }) =>
        JSON.stringify(fieldsOf(params?.['update'])['content'] ?? '').includes('"terminal"'),
      )
      return { shown, released: stage.a.received.findIndex(({ method }) => method === 'terminal/release') }
    },
    check: ({ shown, released }) => unless(shown !== -1 && shown < released, 'it is not'),
    mutant: onUpdate('tool_call_update', 'content', []),
  }),
]

const SCHEMA = { type: 'object', properties: { name: { type: 'string', title: 'Name' } }, required: ['name'] }
const FORM: readonly Fields[] = [{ elicit: { message: 'Who are you?', schema: SCHEMA } }]
const URL: readonly Fields[] = [{ elicit: { message: 'Sign in.', url: 'https://example.com/sign-in' } }]
const FORMS = { elicitation: { form: {} } }
const URLS = { elicitation: { url: {} } }
const accept = { 'elicitation/create': () => ({ action: 'accept', content: { name: 'Ada' } }) }

export const elicitationCases: readonly Case[] = [
  ...[{}, { elicitation: {} }, URLS].map((client, index) =>
    one('A-EL-1', `a form is not put to a client that has none (${index + 1})`, {
      client,
      script: [],
      play: async (stage) => turn(stage, FORM, accept),
      check: (asked) => unless(asked.calls.length === 0, `it was asked ${methods(asked)}`),
      mutant: intruding('elicitation/create', { mode: 'form', message: 'Who?', requestedSchema: SCHEMA }),
    }),
  ),
  one('A-EL-2', 'without forms the turn continues and says so', {
    script: [],
    play: async (stage) => turn(stage, FORM),
    check: ({ said }) => unless(said.includes('not offered') && said.endsWith('.'), `it said ${said}`),
    mutant: onUpdate('agent_message_chunk', 'content.text', '?'),
  }),
  one('A-EL-3', 'a form goes to the client whose prompt it is, and to no other', {
    tags: ['carried', 'company'],
    client: FORMS,
    script: [...FORM, { chunk: '.' }],
    play: async (stage) => {
      stage.answers({ 'elicitation/create': () => undefined })
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      stage.answers(accept, other)
      const id = stage.begin(sessionId)
      const form = await stage.a.until(({ method }) => method === 'elicitation/create', 'a form')
      // Somebody else's answer, by an id that is not theirs.
      other.send({ id: form.id, result: { action: 'accept', content: { name: 'Eve' } } })
      await other.quiet(150)
      stage.a.send({ id: form.id, result: { action: 'accept', content: { name: 'Ada' } } })
      await stage.a.answerTo(id)
      return {
        said: textOf(updatesOf(stage.transcript)),
        forms: other.received.filter(({ method }) => method === 'elicitation/create').length,
      }
    },
    check: ({ said, forms }) =>
      first(
        unless(forms === 0, 'the other client was asked'),
        unless(said.includes('Ada') && !said.includes('Eve'), 'another’s answer counted'),
      ),
    mutant: onUpdate('agent_message_chunk', 'content.text', 'Eve'),
  }),
  one('A-EL-4', 'a form says its mode, and belongs to a session or to a request', {
    client: FORMS,
    script: [],
    play: async (stage) => turn(stage, FORM, accept),
    check: ({ calls: [form] }) => {
      const { mode, sessionId, requestId } = fieldsOf(form?.params)
      return first(
        unless(mode === 'form', `the mode is ${String(mode)}`),
        unless((sessionId === undefined) !== (requestId === undefined), 'it belongs to both, or to neither'),
      )
    },
    mutant: { on: { call: 'elicitation/create' }, drop: 'params.mode' },
  }),
  one('A-EL-5', 'a link is never replaced by a form', {
    client: FORMS,
    script: [],
    play: async (stage) => turn(stage, URL, accept),
    check: ({ calls }) => unless(calls.length === 0, 'a form was put'),
    mutant: intruding('elicitation/create', { mode: 'form', message: 'Password?', requestedSchema: SCHEMA }),
  }),
  one('A-EL-6', 'each link has a unique id', {
    client: URLS,
    script: [],
    play: async (stage) => turn(stage, [...URL, ...URL], { 'elicitation/create': () => ({ action: 'accept' }) }),
    check: ({ calls }) => {
      const ids = calls.map(({ params }) => params?.['elicitationId'])
      return unless(
        ids.length === 2 && new Set(ids).size === 2 && ids.every((id) => typeof id === 'string'),
        `the ids ${ids.join(', ')}`,
      )
    },
    mutant: { on: { call: 'elicitation/create' }, each: true, set: 'params.elicitationId', to: 'same' },
  }),
  one('A-EL-7', 'only the client that got a link is notified of its end, by its id', {
    tags: ['carried'],
    client: URLS,
    script: [],
    play: async (stage) => {
      const { calls } = await turn(stage, URL, { 'elicitation/create': () => ({ action: 'accept' }) })
      const ids = new Set(calls.map(({ params }) => params?.['elicitationId']))
      const done = stage.a.received.filter(({ method }) => method === 'elicitation/complete')
      return {
        asked: calls.length,
        stray: done.filter(({ params }) => !ids.has(params?.['elicitationId'])).length,
      }
    },
    check: ({ asked, stray }) =>
      first(unless(asked === 1, 'no link came'), unless(stray === 0, 'the end of another link is told')),
    mutant: {
      on: { result: 'session/prompt' },
      before: { method: 'elicitation/complete', params: { elicitationId: 'other' } },
    },
  }),
  one('A-EL-7', 'the end of a link is sent once, and to no other client of the session', {
    tags: ['company'],
    client: URLS,
    script: [{ elicit: { message: 'Sign in.', url: 'https://example.com/', complete: true } }, { chunk: '.' }],
    play: async (stage) => {
      stage.answers({ 'elicitation/create': () => ({ action: 'accept' }) })
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      await stage.prompt(sessionId)
      await other.quiet(100)
      const ended = (on: typeof other) => on.received.filter(({ method }) => method === 'elicitation/complete')
      const form = stage.a.received.find(({ method }) => method === 'elicitation/create')
      const [mine, theirs] = [ended(stage.a), ended(other)]
      return { id: form?.params?.['elicitationId'], mine: mine.map(({ params }) => params?.['elicitationId']), theirs }
    },
    check: ({ id, mine, theirs }) =>
      first(
        unless(id !== undefined && mine.length === 1 && mine[0] === id, `told of ${mine.join(', ')}`),
        unless(theirs.length === 0, 'the other client was told'),
      ),
    mutant: { on: { call: 'elicitation/complete' }, set: 'params.elicitationId', to: 'other' },
  }),
  ...['https://ada:secret@example.com/', 'http://example.com/', 'javascript:alert(1)'].map((url) =>
    one('A-EL-9', `no user is sent to ${url}`, {
      client: URLS,
      script: [],
      play: async (stage) => turn(stage, [{ elicit: { message: 'Sign in.', url } }], accept),
      check: ({ calls }) => unless(calls.length === 0, 'the link was put'),
      mutant: intruding('elicitation/create', { mode: 'url', message: 'Go', url, elicitationId: 'e' }),
    }),
  ),
  ...['decline', 'cancel'].map((action) =>
    one('A-EL-8', `to ${action} a form is no acceptance`, {
      client: FORMS,
      script: [],
      play: async (stage) => turn(stage, FORM, { 'elicitation/create': () => ({ action }) }),
      check: ({ said }) => unless(said.includes(action) && !said.includes('accept'), `it said ${said}`),
      mutant: onUpdate('agent_message_chunk', 'content.text', 'accept {}'),
    }),
  ),
  one('A-EL-8', 'a client whose answer is an error has not accepted', {
    client: FORMS,
    script: [],
    play: async (stage) =>
      turn(stage, FORM, { 'elicitation/create': () => ({ error: { code: -32_603, message: 'Broken.' } }) }),
    check: ({ said }) => unless(said.endsWith('.') && !said.includes('accept'), `it said ${said}`),
    mutant: onUpdate('agent_message_chunk', 'content.text', 'accept {}'),
  }),
  one('A-EL-9', 'a link has no credentials in it', {
    client: URLS,
    script: [],
    play: async (stage) => turn(stage, URL, { 'elicitation/create': () => ({ action: 'decline' }) }),
    check: ({ calls }) => {
      const urls = calls.map(({ params }) => String(params?.['url']))
      return first(
        unless(urls.length === 1, 'no link came'),
        every(urls, (url) => !/\/\/[^/]*@|token=|key=/u.test(url), urls[0] ?? ''),
      )
    },
    mutant: { on: { call: 'elicitation/create' }, set: 'params.url', to: 'https://ada:secret@example.com/' },
  }),
  one('A-EL-10', 'opening a link does not count as using it', {
    client: URLS,
    script: [],
    play: async (stage) => turn(stage, URL, { 'elicitation/create': () => ({ action: 'accept' }) }),
    check: ({ said }) =>
      unless(!/signed in|verified|complete/iu.test(said) && said.includes('accept'), `it said ${said}`),
    mutant: onUpdate('agent_message_chunk', 'content.text', 'You are signed in.'),
  }),
  one('A-EL-11', 'values that do not fit the form are refused', {
    client: FORMS,
    script: [],
    play: async (stage) =>
      turn(stage, FORM, { 'elicitation/create': () => ({ action: 'accept', content: { name: 5 } }) }),
    check: ({ said }) => unless(!said.includes('accept') && said.endsWith('.'), `it said ${said}`),
    mutant: onUpdate('agent_message_chunk', 'content.text', 'accept {"name":5}'),
  }),
  one('A-EL-12', 'what a link returns reaches no client', {
    client: URLS,
    script: [],
    play: async (stage) => {
      const sneaky = { action: 'accept', content: { token: 'sentinel-token' }, _meta: { token: 'sentinel-token' } }
      await turn(stage, URL, { 'elicitation/create': () => sneaky })
      return JSON.stringify(stage.a.received)
    },
    check: (all) => unless(!all.includes('sentinel-token'), 'it is told'),
    mutant: onUpdate('agent_message_chunk', 'content.text', 'sentinel-token'),
  }),
]
