/** Requests, answers, notifications, and what is none of them. */
import type { Message } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { onResult, refusing } from '../mutant.ts'
import { answersIn, errorOf, fieldsOf } from '../record.ts'

const METHOD_NOT_FOUND = -32_601

const NO_MESSAGES = [
  ['a number', '42'],
  ['null', 'null'],
  ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":5,"method":"session/list"}'],
  ['a request whose id is an object', '{"jsonrpc":"2.0","id":{},"method":"session/list"}'],
] as const

const WITH_PARAMS_THAT_ARE_TEXT = '{"jsonrpc":"2.0","id":"text","method":"session/list","params":"x"}'

export const jsonRpcCases: readonly Case[] = [
  one('A-JR-1', 'a response has the id of its request, with the same type', {
    tags: ['carried'],
    play: async ({ a }) => {
      for (const id of [0, '0', 'a', '', Number.MAX_SAFE_INTEGER, -1]) await a.request('foo/bar', {}, id)
    },
    check: law('A-JR-1'),
    mutant: { on: { error: 'foo/bar' }, set: 'id', to: '99' },
  }),
  one('A-JR-2', 'a response is a result or an error, never both, and is sent once', {
    tags: ['carried'],
    play: async (stage) => {
      await stage.session()
      await stage.a.request('foo/bar', {})
      await stage.a.quiet()
    },
    check: (_seen, transcript) => first(law('A-JR-1')(_seen, transcript), law('A-CV-5')(_seen, transcript)),
    mutant: { on: { result: 'session/new' }, twice: true },
  }),
  one('A-JR-3', 'no notification is answered, however malformed', {
    tags: ['carried'],
    play: async ({ a }) => {
      const { mark } = a
      a.notify('foo/bar', {})
      a.notify('session/cancel', { sessionId: 5 })
      a.notify('session/cancel')
      a.notify('session/prompt', { sessionId: 'none', prompt: [] })
      await a.quiet(150)
      return answersIn(a.since(mark))
    },
    check: (answers) => unless(answers.length === 0, `it answered ${answers[0]?.raw}`),
    mutant: {
      on: { heard: 'foo/bar' },
      instead: { id: null, error: { code: METHOD_NOT_FOUND, message: 'No such.' } },
    },
  }),
  one('A-JR-4', 'an unknown method is refused as that', {
    tags: ['carried'],
    play: ({ a }) => a.request('foo/bar', {}),
    check: isRefused(METHOD_NOT_FOUND),
    mutant: { on: { error: 'foo/bar' }, set: 'error.code', to: -32603 },
  }),
  one('A-JR-5', 'after an error the connection works as before', {
    tags: ['carried'],
    play: async (stage) => {
      await stage.a.request('session/new', { cwd: 5 })
      return stage.session()
    },
    check: (id) => unless(id !== '', 'no session'),
    mutant: refusing('session/new'),
  }),
  one('A-JR-6', 'text that is not JSON is answered with -32700 and no id', {
    tags: ['carried'],
    play: ({ a }) => malformed(a, '{"jsonrpc":'),
    check: isRefused(-32_700),
    mutant: { on: { response: 'what has no id' }, set: 'error.code', to: -32600 },
  }),
  one('A-JR-6', 'an invalid message, also a batch, is answered with -32600 and no id', {
    tags: ['carried'],
    play: ({ a }) => malformed(a, '[{"jsonrpc":"2.0","id":1,"method":"foo/bar"}]'),
    check: isRefused(-32_600),
    mutant: { on: { response: 'what has no id' }, set: 'error.code', to: -32601 },
  }),
  ...NO_MESSAGES.map(([what, line]) =>
    one('A-JR-6', `${what} is no message, and refused with -32600`, {
      play: ({ a }) => malformed(a, line),
      check: isRefused(-32_600),
      mutant: { on: { response: 'what has no id' }, set: 'error.code', to: -32601 },
    }),
  ),
  one('A-JR-6', 'a request whose params are a text is refused under its id', {
    play: ({ a }) => a.rawMessage({ id: 'text', method: 'session/list' }, [`${WITH_PARAMS_THAT_ARE_TEXT}\n`]),
    check: ({ error }) => unless(error !== undefined, 'it was not refused'),
    mutant: { on: { error: 'session/list' }, instead: { result: { sessions: [] } } },
  }),
  one('A-JR-7', 'while a prompt runs, other sessions and requests are served', {
    tags: ['carried'],
    script: [{ chunk: 'on ' }, { sleepMs: 60_000 }],
    play: async (stage) => {
      const [busy, other] = [await stage.session(), await stage.session()]
      const prompt = stage.begin(busy)
      await stage.told('agent_message_chunk')
      const list = await stage.a.request('session/list', {})
      stage.begin(other)
      await stage.a.until(({ params }) => params?.['sessionId'] === other && isChunk(params), 'a word of the other')
      stage.a.notify('session/cancel', { sessionId: busy })
      stage.a.notify('session/cancel', { sessionId: other })
      await stage.a.answerTo(prompt)
      return list
    },
    check: ({ result }) => unless(result !== undefined, 'a list was refused'),
    mutant: refusing('session/list'),
  }),
  one('A-JR-7', 'requests may be sent without waiting for answers', {
    tags: ['carried'],
    play: async (stage) => {
      const asked = [1, 2, 3, 4].map(() => stage.a.begin('session/new', { cwd: stage.cwd, mcpServers: [] }))
      const answers = []
      for (const id of asked) answers.push(stage.mustWork(await stage.a.answerTo(id), 'session/new')['sessionId'])
      return answers
    },
    check: (ids) => unless(new Set(ids).size === 4, 'two of four sessions have the same id'),
    mutant: { ...onResult('session/new', 'sessionId', 'same'), each: true },
  }),
  one('A-JR-2', 'parameters that are null count as absent', {
    tags: ['ours'],
    play: ({ a }) =>
      a.rawMessage({ id: 'null', method: 'session/list', params: null }, [
        '{"jsonrpc":"2.0","id":"null","method":"session/list","params":null}\n',
      ]),
    check: ({ result }) => unless(Array.isArray(result?.['sessions']), 'it was refused'),
    mutant: refusing('session/list'),
  }),
]

export function isRefused(code: number) {
  return (answer: Message): string | undefined => {
    const error = errorOf(answer)
    if (error === undefined) return `it was answered with ${JSON.stringify(answer.result).slice(0, 100)}`
    return unless(error.code === code, `the code is ${error.code}, not ${code}`)
  }
}

function isChunk(params: Message['params']): boolean {
  return fieldsOf(params?.['update'])['sessionUpdate'] === 'agent_message_chunk'
}

/** An answer without an id counts as one to this line. */
function malformed(a: Parameters<Case['play']>[0]['a'], line: string): Promise<Message> {
  return a.rawMessage({ id: null, method: 'what has no id' }, [`${line}\n`])
}
