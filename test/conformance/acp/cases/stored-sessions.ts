/** Methods of ours on any stored session (docs/internals/protocol.md), as far as one client can see them. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fields } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { onResult } from '../mutant.ts'
import { answersIn, fieldsOf, listOf } from '../record.ts'

export const storedSessionCases: readonly Case[] = [
  one('A-EX-1', 'a page read backwards is what a load sends', {
    tags: ['ours'],
    script: [{ chunk: 'w{n} ', times: 5 }, { thought: 'Hm.' }, { chunk: 'Done.' }],
    play: async (stage) => {
      const sessionId = await stage.talked()
      const page = await stage.ask('_parley/page', { sessionId })
      const { mark } = stage.a
      await stage.load(sessionId)
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
  one('A-EX-1', 'a permission request is answered from outside, once', {
    tags: ['ours'],
    script: [{ permission: { title: 'Delete it' } }, { chunk: 'Done.' }],
    client: { _meta: { 'parley/notifications': ['sessions'] } },
    play: async (stage) => {
      const sessionId = await stage.session()
      stage.answers({ 'session/request_permission': () => undefined })
      const ended = stage.a.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Go' }] })
      await stage.a.until(({ method }) => method === 'session/request_permission')
      // Other cases have sessions that wait, and what another node has is listed about a second later.
      const waits = (row: Fields) => row['sessionId'] === sessionId && row['waiting'] !== undefined
      const rowsIn = ({ params }: { readonly params?: Fields }) => listOf(params?.['sessions']).map(fieldsOf)
      await stage.a.until((message) => rowsIn(message).some(waits))
      const waiting = fieldsOf(stage.a.received.flatMap(rowsIn).findLast(waits)?.['waiting'])
      const optionId = fieldsOf(listOf(waiting['options'])[0])['optionId']
      const params = { sessionId, requestId: waiting['requestId'], optionId }
      const first = await stage.ask('_parley/answer', params)
      const end = stage.mustWork(await ended, 'session/prompt')
      const again = await stage.ask('_parley/answer', params)
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
  one('A-EX-4', 'a client that asked for the list of sessions gets it, and its changes', {
    tags: ['ours'],
    // A connection has the whole list once, so it may have served no other case.
    env: {},
    client: { _meta: { 'parley/notifications': ['sessions'] } },
    play: async (stage) => {
      const sessionId = await stage.talked()
      await stage.a.until(({ params }) =>
        listOf(params?.['sessions'])
          .map(fieldsOf)
          .some((row) => row['sessionId'] === sessionId && row['lastEnd'] !== undefined),
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
  one('A-EX-4', 'a client that asked gets the time and the turn of each update, and answers', {
    tags: ['ours'],
    script: [{ permission: { title: 'Delete it' } }, { chunk: 'Done.' }],
    client: { _meta: { 'parley/places': {}, 'parley/notifications': ['resolved'] } },
    play: async (stage) => {
      stage.answers({
        'session/request_permission': () => ({ outcome: { outcome: 'selected', optionId: 'allow_once' } }),
      })
      await stage.prompt(await stage.session())
      const of = (name: string) => stage.a.received.filter(({ method }) => method === name)
      return {
        places: of('session/update').map(({ params }) => fieldsOf(params?.['_meta'])),
        asked: fieldsOf(of('session/request_permission')[0]?.params?.['_meta'])['parley/requestId'],
        resolved: fieldsOf(of('_parley/resolved')[0]?.params),
      }
    },
    check: ({ places, asked, resolved }) =>
      first(
        unless(
          places.every((place) => typeof place['parley/at'] === 'number') && places.at(-1)?.['parley/turn'] === 't1',
          `it told ${JSON.stringify(places)}`,
        ),
        unless(
          typeof asked === 'string' && resolved['requestId'] === asked,
          `it asked ${String(asked)} and told ${JSON.stringify(resolved)}`,
        ),
      ),
    mutant: { on: { call: '_parley/resolved' }, never: true },
  }),
  one('A-EX-1', 'files of a session are found by parts of their names, inside its directories', {
    tags: ['ours'],
    play: async (stage) => {
      mkdirSync(join(stage.cwd, 'src'))
      for (const name of ['src/relay.ts', 'other.ts']) writeFileSync(join(stage.cwd, name), '')
      writeFileSync(join(stage.directory, 'relay-outside.ts'), '')
      symlinkSync(join(stage.directory, 'relay-outside.ts'), join(stage.cwd, 'relay-link.ts'))
      const params = { sessionId: await stage.session(), query: 'RELAY' }
      // Files that are younger than the list may be missing in it, and in one that is still being read.
      for (const began = performance.now(); ;) {
        const found = await stage.ask('_parley/files', params)
        const isYoung = Number(found['age'] ?? 0) <= performance.now() - began
        if (found['complete'] !== false && isYoung) return listOf(found['files']).map((file) => fieldsOf(file)['name'])
      }
    },
    check: (names) => unless(JSON.stringify(names) === '["src/relay.ts"]', `it found ${JSON.stringify(names)}`),
    mutant: onResult('_parley/files', 'files', []),
  }),
  one('A-EX-1', 'directories are listed, and those that sessions have are known', {
    tags: ['ours'],
    play: async (stage) => {
      await stage.session()
      const params = { path: stage.directory, query: 'wor' }
      const found = await stage.ask('_parley/directories', params)
      return { found: found['directories'], cwd: stage.cwd }
    },
    check: ({ found, cwd }) =>
      unless(
        JSON.stringify(found) === JSON.stringify([{ path: cwd, used: true }]),
        `it found ${JSON.stringify(found)}`,
      ),
    mutant: onResult('_parley/directories', 'directories', []),
  }),
  one('A-EX-1', 'a queued prompt is withdrawn, and another one is moved to the front', {
    tags: ['ours'],
    script: [{ chunk: 'Begun.' }, { sleepMs: 60_000 }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const ends = ['first', 'second', 'third'].map(async (promptId) => {
        const params = { sessionId, prompt: [{ type: 'text', text: promptId }], _meta: { 'parley/promptId': promptId } }
        return (await stage.ask('session/prompt', params))['stopReason']
      })
      await stage.a.until(({ params }) => fieldsOf(params?.['update'])['sessionUpdate'] === 'agent_message_chunk')
      stage.script([{ chunk: 'Done.' }])
      const changed = async (method: string, more: Fields) => stage.ask(method, { sessionId, ...more })
      const { withdrawn } = await changed('_parley/withdraw', { promptId: 'second' })
      const { promoted } = await changed('_parley/promote', { promptId: 'third', now: true })
      return { withdrawn, promoted, ends: await Promise.all(ends) }
    },
    check: (seen) =>
      unless(
        JSON.stringify(seen) ===
          JSON.stringify({ withdrawn: true, promoted: true, ends: ['cancelled', 'cancelled', 'end_turn'] }),
        JSON.stringify(seen),
      ),
    mutant: onResult('_parley/withdraw', 'withdrawn', false),
  }),
  one('A-EX-1', 'an outline has all prompts, and a session marked as seen is no longer unread', {
    tags: ['ours'],
    play: async (stage) => {
      const sessionId = await stage.talked()
      const outline = await stage.ask('_parley/outline', { sessionId })
      const unread = async (seq: number): Promise<unknown> => {
        await stage.ask('_parley/seen', { sessionId, seq })
        const { sessions } = await stage.ask('session/list', { cwd: stage.cwd })
        const row = listOf(sessions)
          .map(fieldsOf)
          .find((one) => one['sessionId'] === sessionId)
        return fieldsOf(row?.['_meta'])['parley/unread']
      }
      return { prompts: listOf(outline['prompts']).length, marks: [await unread(0), await unread(1_000_000)] }
    },
    check: (seen) =>
      unless(JSON.stringify(seen) === JSON.stringify({ prompts: 1, marks: [true, false] }), JSON.stringify(seen)),
    mutant: onResult('_parley/outline', 'prompts', []),
  }),
  one('A-EX-1', 'a token is made, listed without its secret, and removed', {
    tags: ['ours'],
    play: async (stage) => {
      stage.offers('_parley/access/token')
      const name = `conformance-${Math.random().toString(36).slice(2)}`
      const made = await stage.ask('_parley/access/token', { name, role: 'read' })
      const listed = async (): Promise<string> => JSON.stringify(await stage.ask('_parley/access/list', {}))
      const before = await listed()
      const params = { kind: 'token', id: name }
      await stage.ask('_parley/access/remove', params)
      return { name, token: String(made['token']), before, after: await listed() }
    },
    check: ({ name, token, before, after }) =>
      unless(before.includes(name) && !before.includes(token) && !after.includes(name), `${before} became ${after}`),
    mutant: onResult('_parley/access/list', 'tokens', []),
  }),
  one(
    'A-EX-1',
    'a device is invited and a session is shared by links, which are listed without their codes and taken back',
    {
      tags: ['ours'],
      play: async (stage) => {
        stage.offers('_parley/access/share')
        const invited = await stage.ask('_parley/access/pair', { role: 'read' })
        const sessionId = await stage.session()
        const shared = await stage.ask('_parley/access/share', { sessionId, hours: 1 })
        const listed = await stage.ask('_parley/access/list', {})
        const removed = await stage.ask('_parley/access/remove', { kind: 'share', id: sessionId })
        return { invited, shared, listed, removed, left: await stage.ask('_parley/access/list', {}) }
      },
      check: ({ invited, shared, listed, removed, left }) =>
        first(
          unless(
            invited['role'] === 'read' && invited['fragment'] === `pair=${String(invited['code'])}`,
            `it invited with ${JSON.stringify(invited)}`,
          ),
          unless(!JSON.stringify(listed).includes(String(shared['code'])), 'the list has the code of a share link'),
          unless(
            listOf(removed['removed']).map((link) => fieldsOf(link)['id'])[0] === shared['id'] &&
              !listOf(left['shares']).some((link) => fieldsOf(link)['id'] === shared['id']),
            `it removed ${JSON.stringify(removed)} of ${JSON.stringify(listed)}`,
          ),
        ),
      mutant: onResult('_parley/access/remove', 'removed', []),
    },
  ),
  one('A-EX-1', 'a list has only the sessions of a filter: their phase, directory and words', {
    tags: ['ours'],
    play: async (stage) => {
      const sessionId = await stage.talked()
      const isListed = async (filter: Fields): Promise<boolean> => {
        const params = { cwd: stage.cwd, _meta: { 'parley/filter': filter } }
        const { sessions } = await stage.ask('session/list', params)
        return listOf(sessions).some((one) => fieldsOf(one)['sessionId'] === sessionId)
      }
      const fits = [{ phase: ['idle'] }, { cwdPrefix: stage.cwd }, { phase: ['idle'], cwdPrefix: stage.directory }]
      const others = [{ phase: ['waiting'] }, { cwdPrefix: `${stage.cwd}/other` }, { text: 'words-of-no-session' }]
      return { fits: await Promise.all(fits.map(isListed)), others: await Promise.all(others.map(isListed)) }
    },
    check: ({ fits, others }) => unless(fits.every(Boolean) && !others.some(Boolean), JSON.stringify({ fits, others })),
    mutant: { ...onResult('session/list', 'sessions', []), each: true },
  }),
  one('A-EX-1', 'a ping is answered, and one that is a notification is ignored', {
    tags: ['ours'],
    play: async (stage) => {
      const { mark } = stage.a
      stage.a.notify('$/ping', {})
      await stage.ask('_parley/ping', {})
      await stage.a.quiet()
      return answersIn(stage.a.since(mark))
    },
    check: (answers) => unless(answers.length === 1, `it heard ${JSON.stringify(answers)}`),
    mutant: { on: { result: '_parley/ping' }, twice: true },
  }),
  one('A-EX-1', 'a client that asked hears at once, and then at intervals, that the connection is alive', {
    tags: ['ours'],
    client: { _meta: { 'parley/notifications': ['alive'] } },
    play: async (stage) => (await stage.a.until(({ method }) => method === '_parley/alive')).id,
    check: (id) => unless(id === undefined, 'it wants an answer'),
    mutant: { on: { call: '_parley/alive' }, each: true, never: true },
  }),
  one('A-EX-1', 'the agents for a new session are listed, and a subscribed client gets the list', {
    tags: ['ours'],
    client: { _meta: { 'parley/notifications': ['agents'] } },
    play: async (stage) => {
      stage.offers('_parley/agents')
      const told = await stage.a.until(({ method }) => method === '_parley/agents')
      const listed = await stage.ask('_parley/agents', {})
      return { told: told.params, listed }
    },
    check: ({ told, listed }) =>
      first(
        unless(
          listOf(listed['agents']).some((agent) => fieldsOf(agent)['name'] === 'claude'),
          `it listed ${JSON.stringify(listed)}`,
        ),
        unless(JSON.stringify(told) === JSON.stringify(listed), `it told ${JSON.stringify(told)}`),
      ),
    mutant: { on: { call: '_parley/agents' }, each: true, set: 'params.agents', to: [] },
  }),
]
