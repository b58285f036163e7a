/** Methods and keys beyond the standard, and errors. */
import type { Message } from '../../../e2e/message.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { accepting, onResult, refusing } from '../mutant.ts'
import { answersIn, errorOf, fieldsOf, listOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { isRefused } from './json-rpc.ts'

/** As a client that is being traced attaches it. */
const ATTACHED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'test/of': { one: [1, 2] } }

export const extensionCases: readonly Case[] = [
  one('A-EX-1', 'a request beyond the standard gets an answer', {
    play: ({ a }) => a.request('_x/y', { any: 'thing' }),
    check: isRefused(-32_601),
    mutant: { on: { error: '_x/y' }, set: 'error.code', to: -32_603 },
  }),
  one('A-EX-2', 'a notification beyond the standard is ignored', {
    play: async (stage) => {
      const { mark } = stage.a
      stage.a.notify('_x/n', { any: 'thing' })
      await stage.a.quiet(100)
      return answersIn(stage.a.since(mark))
    },
    check: (answers) => unless(answers.length === 0, 'it was answered'),
    mutant: { on: { heard: '_x/n' }, instead: { id: null, error: { code: -32_601, message: 'No such.' } } },
  }),
  one('A-EX-3', 'any `_meta` is accepted, also that of tracing', {
    play: async (stage) => {
      const _meta = {
        traceparent: '00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01',
        tracestate: 'a=b',
        baggage: 'c=d',
        'x/y': { z: [null] },
      }
      const sessionId = await stage.session({ _meta })
      const prompt = [{ type: 'text', text: 'Say hello.', _meta, annotations: { priority: 1 } }]
      return stage.ask('session/prompt', { sessionId, prompt, _meta })
    },
    check: ({ stopReason }) => unless(typeof stopReason === 'string', 'it was refused'),
    mutant: refusing('session/prompt'),
  }),
  one('A-EX-3', '`_meta` of a prompt is kept, and sent by a load', {
    tags: ['ours'],
    script: [{ chunk: '.' }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const _meta = { ...ATTACHED, 'parley/promptId': 'mine' }
      const prompt = [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ]
      await stage.ask('session/prompt', { sessionId, prompt, _meta })
      await stage.again()
      await stage.load(sessionId)
      return updatesOf(stage.transcript, 'user_message_chunk').map((update) => update['_meta'])
    },
    check: (told) => unless(JSON.stringify(told) === JSON.stringify([ATTACHED, undefined]), JSON.stringify(told)),
    mutant: { on: { call: 'session/update', update: 'user_message_chunk' }, drop: 'params.update._meta' },
  }),
  one('A-EX-4', 'extensions are advertised in `_meta`, and used only if the client asks for them', {
    play: async (stage) => {
      await stage.prompt(await stage.session())
      await stage.a.quiet(100)
      return stage.a.received.find(({ method }) => method?.startsWith('_') === true)?.method
    },
    check: (method, transcript) =>
      first(unless(method === undefined, `${String(method)} came unasked`), law('A-CV-3')(method, transcript)),
    mutant: { on: { result: 'session/prompt' }, before: { method: '_x/unasked', params: {} } },
  }),
  one('A-EX-5', 'Parley’s own keys with unknown values are ignored', {
    play: async (stage) => {
      const _meta = { 'x/seq': -1, constructor: 'x', toString: 5, '': null }
      return stage.ask('session/prompt', {
        sessionId: await stage.session(),
        prompt: [{ type: 'text', text: 'Hello.' }],
        _meta,
      })
    },
    check: ({ stopReason }) => unless(typeof stopReason === 'string', 'it was refused'),
    mutant: refusing('session/prompt'),
  }),
]

/** Requests that are wrong, and the code that says how. */
const WRONG: readonly (readonly [string, Readonly<Record<string, unknown>>, number])[] = [
  ['foo/bar', {}, -32_601],
  ['_x/y', {}, -32_601],
  ['session/close', { sessionId: 'nobody' }, -32_002],
  ['session/prompt', { sessionId: 'nobody', prompt: [{ type: 'text', text: 'x' }] }, -32_002],
  ['session/new', { cwd: 5, mcpServers: [] }, -32_602],
  ['session/new', {}, -32_602],
  ['session/prompt', { sessionId: 'x' }, -32_602],
  ['session/prompt', { sessionId: 'x', prompt: 'text' }, -32_602],
  ['session/prompt', { sessionId: 'x', prompt: [{ type: 'smell', data: '' }] }, -32_602],
]

export const errorCases: readonly Case[] = [
  ...WRONG.map(([method, params, code]) =>
    one('A-ER-1', `${method} with ${JSON.stringify(params).slice(0, 60)} is refused with ${code}`, {
      play: ({ a }) => a.request(method, params),
      check: isRefused(code),
      mutant: { on: { error: method }, set: 'error.code', to: -32_099 },
    }),
  ),
  one('A-ER-2', 'an error is one line without internal details', {
    play: async ({ a, cwd }) => [
      await a.request('foo\nbar', {}),
      await a.request('session/new', { cwd: 'no\nsuch', mcpServers: [] }),
      await a.request('session/new', {
        cwd,
        mcpServers: [{ name: 'x', command: 5, args: [], env: [{ name: 'TOKEN', value: 'sentinel' }] }],
      }),
      await a.request('session/prompt', { sessionId: 'x'.repeat(10_000), prompt: [{ type: 'text', text: 'Hello.' }] }),
    ],
    check: (answers, transcript) => {
      const texts = answers.map((answer) => JSON.stringify(errorOf(answer) ?? {}))
      return first(
        law('A-ER-2')(answers, transcript),
        unless(!texts.some((text) => text.includes('sentinel')), 'a secret is told'),
        unless(!texts.some((text) => /\\n\s+at |node_modules/u.test(text)), 'a stack is told'),
        every(texts, (text) => text.length < 40_000, 'it has no end'),
      )
    },
    mutant: { on: { error: 'session/new' }, set: 'error.message', to: 'Error: it broke\n    at main.js:1' },
  }),
]

/** Of a server that wants one. */
export const TOKEN = { PARLEY_SERVER_TOKEN: 'open sesame' }

export function signIn(stage: Stage, token: string): Promise<Message> {
  const [method] = listOf(stage.offer['authMethods'])
  const _meta = { 'parley/token': token }
  return stage.a.request('authenticate', { methodId: method?.['id'] ?? 'none', _meta })
}

export const authCases: readonly Case[] = [
  one('A-AU-1', 'authentication methods are a list, each with a unique id', {
    tags: ['raw'],
    play: async (stage) => (await stage.initialize()).result,
    check: (result) => {
      const methods = result?.['authMethods'] ?? []
      if (!Array.isArray(methods)) return 'it is no list'
      const ids = methods.map((method) => fieldsOf(method)['id'])
      return unless(
        new Set(ids).size === ids.length && ids.every((id) => typeof id === 'string'),
        `the ids ${ids.join(', ')}`,
      )
    },
    mutant: onResult('initialize', 'authMethods', [
      { id: 'a', name: 'A' },
      { id: 'a', name: 'B' },
    ]),
  }),
  one('A-AU-2', 'a client without terminal authentication is offered no method that needs it', {
    tags: ['raw'],
    play: async (stage) => (await stage.initialize()).result,
    check: (result) => {
      const methods = (result?.['authMethods'] ?? []) as readonly { readonly type?: string }[]
      return every(methods, ({ type }) => type !== 'terminal', 'it is')
    },
    mutant: onResult('initialize', 'authMethods', [{ type: 'terminal', id: 't', name: 'T' }]),
  }),
  one('A-AU-4', 'an agent without authentication methods does not require authentication', {
    play: async (stage) => {
      const methods = stage.offer['authMethods']
      const { error } = await stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [] })
      return { ways: Array.isArray(methods) ? methods.length : 0, code: error?.code }
    },
    check: ({ ways, code }) => unless(ways > 0 || code !== -32_000, 'it asks for what cannot be done'),
    mutant: refusing('session/new', -32_000),
  }),
  one('A-AU-3', 'an unknown authentication method is refused', {
    play: ({ a }) => a.request('authenticate', { methodId: 'no-such' }),
    check: ({ error }) => unless(error !== undefined, 'it was taken'),
    mutant: accepting('authenticate'),
  }),
  one('A-AU-5', 'logout is advertised only if it is possible', {
    play: async (stage) => {
      const offered = fieldsOf(fieldsOf(stage.offer['agentCapabilities'])['auth'])['logout']
      if (offered !== undefined && offered !== null) return undefined
      return stage.a.request('logout', {})
    },
    check: (answer) =>
      unless(answer === undefined || answer.error !== undefined, 'it was taken, though it is not offered'),
    mutant: accepting('logout'),
  }),
  one('A-AU-3', 'a server that demands a token refuses a client without it, and serves one that gave it', {
    tags: ['ours'],
    env: TOKEN,
    play: async (stage) => {
      const open = { cwd: stage.cwd, mcpServers: [] }
      const before = await stage.a.request('session/new', open)
      const wrong = await signIn(stage, 'open barley')
      const right = await signIn(stage, 'open sesame')
      return { before, wrong, right, after: await stage.a.request('session/new', open) }
    },
    check: ({ before, wrong, right, after }) =>
      first(
        isRefused(-32_000)(before),
        unless(wrong.error !== undefined, 'a wrong token was taken'),
        unless(right.error === undefined, `the right one was refused: ${right.error?.message}`),
        unless(after.error === undefined, 'it is not in'),
      ),
    mutant: refusing('authenticate', -32_000),
  }),
  one('A-AU-5', 'a client that logs out is no longer authenticated', {
    tags: ['ours'],
    env: TOKEN,
    play: async (stage) => {
      stage.needs('agentCapabilities.auth.logout')
      await signIn(stage, 'open sesame')
      const out = await stage.a.request('logout', {})
      return { out, after: await stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [] }) }
    },
    check: ({ out, after }) => first(unless(out.result !== undefined, 'no answer'), isRefused(-32_000)(after)),
    mutant: accepting('session/new', { sessionId: 's' }),
  }),
  one('A-AU-6', 'a terminal authentication method names arguments and environment variables, never a command', {
    tags: ['raw'],
    play: async (stage) => {
      const { result } = await stage.initialize(stage.a, { auth: { terminal: true } })
      return ((result?.['authMethods'] ?? []) as readonly Readonly<Record<string, unknown>>[]).filter(
        ({ type }) => type === 'terminal',
      )
    },
    check: (methods) =>
      first(
        unless(!methods.some((method) => 'command' in method), 'it names a command'),
        unless(!methods.some(({ env }) => Array.isArray(env)), 'the environment is a list'),
      ),
    mutant: onResult('initialize', 'authMethods', [{ type: 'terminal', id: 't', name: 'T', command: 'sh', env: [] }]),
  }),
]
