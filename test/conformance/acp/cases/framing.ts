/** Lines, bytes, and the end of a process. */
import { onUpdate } from '../mutant.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { witness } from '../mcp.ts'
import { law } from '../laws.ts'
import { textOf, updatesOf } from '../record.ts'

const ODD = '汉字 \u2028 🙂 e\u0301\n'

export const framingCases: readonly Case[] = [
  one('A-TR-1', 'text of any alphabet arrives unchanged', {
    tags: ['carried'],
    script: [{ chunk: ODD, times: 400 }],
    play: async (stage) => {
      await stage.prompt(await stage.session(), ODD)
      return textOf(updatesOf(stage.transcript))
    },
    check: (said, { impurities }) =>
      first(impurities[0], unless(said === ODD.repeat(400), 'the text is not what was said')),
    mutant: onUpdate('agent_message_chunk', 'content.text', '?'),
  }),
  one('A-TR-2', 'a message is one line, whatever it contains', {
    tags: ['carried'],
    script: [{ chunk: 'one\ntwo\u2028three\r\n\u0085' }],
    play: async (stage) => stage.prompt(await stage.session(), 'a\nb'),
    check: law('A-TR-2'),
    mutant: { on: { call: 'session/update', update: 'agent_message_chunk' }, raw: '{"jsonrpc":"2.0",\n"method":"x"}' },
  }),
  one('A-TR-3', 'stdout has only ACP messages, however noisy an MCP server is', {
    tags: ['carried'],
    play: async (stage) => {
      const noisy = witness(stage, 'noisy', { junk: true })
      await stage.session({ mcpServers: [noisy.entry] })
      await noisy.hears('initialize')
    },
    check: law('A-TR-2'),
    mutant: { on: { result: 'session/new' }, raw: 'Welcome to the agent!' },
  }),
  one('A-TR-4', 'output on stderr delays no response', {
    tags: ['carried'],
    play: async (stage) => {
      for (let count = 0; count < 20; count += 1) stage.a.write('no message\n')
      return stage.session()
    },
    check: (id) => unless(id !== '', 'no session'),
    mutant: { on: { result: 'session/new' }, set: 'result.sessionId', to: '' },
  }),
  one('A-TR-5', 'the agent answers on stdin and stdout', {
    tags: ['carried', 'raw'],
    play: (stage) => stage.initialize(),
    check: ({ result }) => unless(result !== undefined, 'no answer'),
    mutant: { on: { result: 'initialize' }, instead: { id: '$id', error: { code: -32603, message: 'No.' } } },
  }),
  one('A-TR-6', 'a message may arrive in pieces, and several in one piece', {
    tags: ['bytes', 'carried'],
    play: async ({ a }) => {
      const message = { id: 'piece', method: '_x/pieces', params: { text: '汉🙂' } }
      const next = { id: 'next', method: '_x/next' }
      const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      const more = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...next })}\n`)
      const half = bytes.indexOf(Buffer.from('汉')) + 1
      const answers = [a.rawMessage(message, [bytes.subarray(0, half)])]
      await a.quiet(20)
      answers.push(a.rawMessage(next, [Buffer.concat([bytes.subarray(half), more])]))
      return Promise.all(answers)
    },
    check: (answers) => every(answers, ({ error }) => error !== undefined, 'a piece was no message'),
    mutant: { on: { response: '_x/next' }, instead: { id: '$id', result: {} } },
  }),
  one('A-TR-6', 'a message may come byte by byte, and its line may end with CR LF', {
    tags: ['bytes', 'carried'],
    play: ({ a }) => {
      const message = { id: 'bytes', method: '_x/bytes', params: { text: '汉🙂' } }
      const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\r\n`)
      return a.rawMessage(
        message,
        [...bytes].map((byte) => Uint8Array.of(byte)),
      )
    },
    check: ({ error }) => unless(error?.code === -32_601, 'it was no message'),
    mutant: { on: { response: '_x/bytes' }, set: 'error.code', to: -32_700 },
  }),
  one('A-TR-7', 'the agent ends by itself when its input ends', {
    tags: ['carried'],
    play: ({ a }) => a.leave(),
    check: (byItself) => unless(byItself, 'it had to be ended'),
    mutant: { on: { result: 'initialize' }, lingers: 5000 },
  }),
]
