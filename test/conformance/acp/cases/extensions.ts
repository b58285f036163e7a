/** Methods and keys beyond the standard, and errors. */
import type { Fields } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { accepting, onResult, refusing } from '../mutant.ts'
import { errorOf, fieldsOf, listOf, updatesOf } from '../record.ts'
import { isRefused } from './json-rpc.ts'

/** As a client that is being traced attaches it. */
const ATTACHED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'test/of': { one: [1, 2] } }

export const extensionCases: readonly Case[] = [
  one({
    row: 'A-EX-1',
    name: 'a request beyond the standard gets an answer',
    play: ({ a }) => a.request('_x/y', { any: 'thing' }),
    check: isRefused(-32_601),
    mutant: { on: { error: '_x/y' }, set: 'error.code', to: -32_603 },
  }),
  one({
    row: 'A-EX-2',
    name: 'a notification beyond the standard is ignored',
    play: async (stage) => {
      const { mark } = stage.a
      stage.a.notify('_x/n', { any: 'thing' })
      await stage.a.quiet(100)
      return stage.a.since(mark).entries.filter(({ from, message }) => from === 'agent' && message.method === undefined)
    },
    check: (answers) => unless(answers.length === 0, 'it was answered'),
    mutant: { on: { heard: '_x/n' }, instead: { id: null, error: { code: -32_601, message: 'No such.' } } },
  }),
  one({
    row: 'A-EX-3',
    name: 'any `_meta` is accepted, also that of tracing',
    play: async (stage) => {
      const _meta = {
        traceparent: '00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01',
        tracestate: 'a=b',
        baggage: 'c=d',
        'x/y': { z: [null] },
      }
      const sessionId = await stage.session({ _meta })
      const prompt = [{ type: 'text', text: 'Say hello.', _meta, annotations: { priority: 1 } }]
      return stage.mustWork(await stage.a.request('session/prompt', { sessionId, prompt, _meta }), 'session/prompt')
    },
    check: ({ stopReason }) => unless(typeof stopReason === 'string', 'it was refused'),
    mutant: refusing('session/prompt'),
  }),
  one({
    row: 'A-EX-3',
    name: '`_meta` of a prompt is kept, and sent by a load',
    ours: true,
    script: [{ chunk: '.' }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const _meta = { ...ATTACHED, 'parley/promptId': 'mine' }
      const prompt = [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ]
      stage.mustWork(await stage.a.request('session/prompt', { sessionId, prompt, _meta }), 'session/prompt')
      await stage.again()
      const params = { sessionId, cwd: stage.cwd, mcpServers: [] }
      stage.mustWork(await stage.a.request('session/load', params), 'session/load')
      return updatesOf(stage.transcript, 'user_message_chunk').map((update) => update['_meta'])
    },
    check: (told) => unless(JSON.stringify(told) === JSON.stringify([ATTACHED, undefined]), JSON.stringify(told)),
    mutant: { on: { call: 'session/update', update: 'user_message_chunk' }, drop: 'params.update._meta' },
  }),
  one({
    row: 'A-EX-4',
    name: 'extensions are advertised in `_meta`, and used only if the client asks for them',
    play: async (stage) => {
      await stage.prompt(await stage.session())
      await stage.a.quiet(100)
      return stage.a.received.find(({ method }) => method?.startsWith('_') === true)?.method
    },
    check: (method, transcript) =>
      first(unless(method === undefined, `${String(method)} came unasked`), law('A-CV-3')(method, transcript)),
    mutant: { on: { result: 'session/prompt' }, before: { method: '_x/unasked', params: {} } },
  }),
  one({
    row: 'A-EX-5',
    name: 'Parley’s own keys with unknown values are ignored',
    play: async (stage) => {
      const _meta = { 'x/seq': -1, constructor: 'x', toString: 5, '': null }
      return stage.mustWork(
        await stage.a.request('session/prompt', {
          sessionId: await stage.session(),
          prompt: [{ type: 'text', text: 'Hello.' }],
          _meta,
        }),
        'session/prompt',
      )
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
    one({
      row: 'A-ER-1',
      name: `${method} with ${JSON.stringify(params).slice(0, 60)} is refused with ${code}`,
      play: ({ a }) => a.request(method, params),
      check: isRefused(code),
      mutant: { on: { error: method }, set: 'error.code', to: -32_099 },
    }),
  ),
  one({
    row: 'A-ER-2',
    name: 'an error is one line without internal details',
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
        unless(
          texts.every((text) => text.length < 40_000),
          'it has no end',
        ),
      )
    },
    mutant: { on: { error: 'session/new' }, set: 'error.message', to: 'Error: it broke\n    at main.js:1' },
  }),
]

const TOKEN = { PARLEY_SERVER_TOKEN: 'open sesame' }

const signIn = (method: Fields | undefined, token: string): Fields => ({
  methodId: method?.['id'] ?? 'none',
  _meta: { 'parley/token': token },
})

export const authCases: readonly Case[] = [
  one({
    row: 'A-AU-1',
    name: 'authentication methods are a list, each with a unique id',
    raw: true,
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
  one({
    row: 'A-AU-2',
    name: 'a client without terminal authentication is offered no method that needs it',
    raw: true,
    play: async (stage) => (await stage.initialize()).result,
    check: (result) => {
      const methods = (result?.['authMethods'] ?? []) as readonly { readonly type?: string }[]
      return unless(
        methods.every(({ type }) => type !== 'terminal'),
        'it is',
      )
    },
    mutant: onResult('initialize', 'authMethods', [{ type: 'terminal', id: 't', name: 'T' }]),
  }),
  one({
    row: 'A-AU-4',
    name: 'an agent without authentication methods does not require authentication',
    play: async (stage) => {
      const methods = stage.offer['authMethods']
      const { error } = await stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [] })
      return { ways: Array.isArray(methods) ? methods.length : 0, code: error?.code }
    },
    check: ({ ways, code }) => unless(ways > 0 || code !== -32_000, 'it asks for what cannot be done'),
    mutant: refusing('session/new', -32_000),
  }),
  one({
    row: 'A-AU-3',
    name: 'an unknown authentication method is refused',
    play: ({ a }) => a.request('authenticate', { methodId: 'no-such' }),
    check: ({ error }) => unless(error !== undefined, 'it was taken'),
    mutant: accepting('authenticate'),
  }),
  one({
    row: 'A-AU-5',
    name: 'logout is advertised only if it is possible',
    play: async (stage) => {
      const offered = fieldsOf(fieldsOf(stage.offer['agentCapabilities'])['auth'])['logout']
      if (offered !== undefined && offered !== null) return undefined
      return stage.a.request('logout', {})
    },
    check: (answer) =>
      unless(answer === undefined || answer.error !== undefined, 'it was taken, though it is not offered'),
    mutant: accepting('logout'),
  }),
  one({
    row: 'A-AU-3',
    name: 'a server that demands a token refuses a client without it, and serves one that gave it',
    ours: true,
    env: TOKEN,
    play: async (stage) => {
      const open = { cwd: stage.cwd, mcpServers: [] }
      const [method] = listOf(stage.offer['authMethods'])
      const before = await stage.a.request('session/new', open)
      const wrong = await stage.a.request('authenticate', signIn(method, 'open barley'))
      const right = await stage.a.request('authenticate', signIn(method, 'open sesame'))
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
  one({
    row: 'A-AU-5',
    name: 'a client that logs out is no longer authenticated',
    ours: true,
    env: TOKEN,
    play: async (stage) => {
      stage.needs('agentCapabilities.auth.logout')
      const [method] = listOf(stage.offer['authMethods'])
      await stage.a.request('authenticate', signIn(method, 'open sesame'))
      const out = await stage.a.request('logout', {})
      return { out, after: await stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [] }) }
    },
    check: ({ out, after }) => first(unless(out.result !== undefined, 'no answer'), isRefused(-32_000)(after)),
    mutant: accepting('session/new', { sessionId: 's' }),
  }),
  one({
    row: 'A-AU-6',
    name: 'a terminal authentication method names arguments and environment variables, never a command',
    raw: true,
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
