/** Methods of ours on any stored session (docs/internals/protocol.md), as far as one client can see them. */
import { type Case, one, unless } from '../case.ts'
import { onResult } from '../mutant.ts'
import { fieldsOf, listOf } from '../record.ts'

export const storedSessionCases: readonly Case[] = [
  one({
    row: 'A-EX-1',
    name: 'a page read backwards is what a load sends',
    ours: true,
    script: [{ chunk: 'w{n} ', times: 5 }, { thought: 'Hm.' }, { chunk: 'Done.' }],
    play: async (stage) => {
      const sessionId = await stage.session()
      await stage.prompt(sessionId)
      const page = stage.mustWork(await stage.a.request('_parley/page', { sessionId }), '_parley/page')
      const { mark } = stage.a
      const params = { sessionId, cwd: stage.cwd, mcpServers: [] }
      stage.mustWork(await stage.a.request('session/load', params), 'session/load')
      const loaded = stage.a
        .since(mark)
        .entries.flatMap(({ message }) => (message.method === 'session/update' ? [message.params] : []))
      return { paged: listOf(page['updates']), loaded }
    },
    check: ({ paged, loaded }) => {
      const [one, other] = [paged, loaded].map((all) => JSON.stringify(all.map((params) => fieldsOf(params)['update'])))
      return unless(loaded.length > 0 && one === other, `the page has ${one}, the load sent ${other}`)
    },
    mutant: onResult('_parley/page', 'updates', []),
  }),
  one({
    row: 'A-EX-1',
    name: 'a permission request is answered from outside, once',
    ours: true,
    script: [{ permission: { title: 'Delete it' } }, { chunk: 'Done.' }],
    client: { _meta: { 'parley/notifications': ['sessions'] } },
    play: async (stage) => {
      const sessionId = await stage.session()
      stage.answers({ 'session/request_permission': () => undefined })
      const ended = stage.a.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Go' }] })
      await stage.a.until(({ method }) => method === 'session/request_permission')
      await stage.a.quiet()
      const rows = stage.a.received.flatMap(({ params }) => listOf(params?.['sessions']).map(fieldsOf))
      const waiting = fieldsOf(rows.findLast((row) => row['waiting'] !== undefined)?.['waiting'])
      const optionId = fieldsOf(listOf(waiting['options'])[0])['optionId']
      const params = { sessionId, requestId: waiting['requestId'], optionId }
      const first = stage.mustWork(await stage.a.request('_parley/answer', params), '_parley/answer')
      const end = stage.mustWork(await ended, 'session/prompt')
      const again = stage.mustWork(await stage.a.request('_parley/answer', params), '_parley/answer')
      return { first, again, end }
    },
    check: ({ first, again, end }) =>
      unless(
        first['counted'] === true &&
          JSON.stringify(first) === JSON.stringify(again) &&
          end['stopReason'] === 'end_turn',
        JSON.stringify({ first, again, end }),
      ),
    mutant: onResult('_parley/answer', 'counted', false),
  }),
  one({
    row: 'A-EX-4',
    name: 'the list of sessions is told to a client that asked for it, and its changes',
    ours: true,
    client: { _meta: { 'parley/notifications': ['sessions'] } },
    play: async (stage) => {
      const sessionId = await stage.session()
      await stage.prompt(sessionId)
      await stage.a.until(({ params }) =>
        listOf(params?.['sessions']).some((row) => fieldsOf(row)['lastEnd'] !== undefined),
      )
      const told = stage.a.received.filter(({ method }) => method === '_parley/sessions')
      const rows = told.flatMap(({ params }) => listOf(params?.['sessions']).map(fieldsOf))
      return { first: told[0]?.params, row: rows.findLast((row) => row['sessionId'] === sessionId) }
    },
    check: ({ first, row }) =>
      unless(
        first?.['reset'] === true && row?.['phase'] === 'idle' && fieldsOf(row['lastEnd'])['stopReason'] === 'end_turn',
        `it told ${JSON.stringify(first)} and ${JSON.stringify(row)}`,
      ),
    mutant: { on: { call: '_parley/sessions' }, each: true, never: true },
  }),
]
