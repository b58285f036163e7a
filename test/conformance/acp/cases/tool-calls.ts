/** Tool calls and plans, as they are told. */
import type { Fields } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { callOf, witness } from '../mcp.ts'
import { onNthUpdate, onUpdate, withoutUpdate } from '../mutant.ts'
import { fieldsOf, listOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'

const KINDS = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other']
const PENDING = { toolCall: { toolCallId: 'c', title: 'Counts', status: 'pending' } }

async function turn(stage: Stage, more: Fields = {}) {
  const told = await stage.turn(undefined, more)
  return told.filter(({ sessionUpdate }) => sessionUpdate.startsWith('tool_call'))
}

async function echoed(stage: Stage) {
  const server = witness(stage, 'words')
  const told = await turn(stage, { mcpServers: [server.entry] })
  return { told, ran: server.heard().some(({ method }) => method === 'tools/call') }
}

export const toolCallCases: readonly Case[] = [
  one('A-TC-1', 'a tool call is reported with a title before it runs', {
    script: [callOf('echo', { text: 'x' })],
    play: echoed,
    check: ({ told: [call], ran }) =>
      first(
        unless(ran, 'the tool did not run'),
        unless(call?.sessionUpdate === 'tool_call', 'the first that is told is no tool_call'),
        unless(typeof call?.['title'] === 'string' && call['title'] !== '', 'it has no title'),
        unless(call?.['status'] !== 'completed', 'it is told when it is over'),
      ),
    mutant: onUpdate('tool_call', 'title', ''),
  }),
  one('A-TC-2', 'a call of a later turn has another id, also after a restart', {
    script: [{ toolCall: { toolCallId: 'same', title: 'Same', status: 'completed' } }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const ids: unknown[] = []
      for (let count = 0; count < 2; count += 1) {
        await stage.prompt(sessionId)
        ids.push(...updatesOf(stage.transcript, 'tool_call', sessionId).map(({ toolCallId }) => toolCallId))
        await stage.again()
        await stage.ask('session/resume', { sessionId, cwd: stage.cwd })
      }
      return ids
    },
    check: (ids) => unless(ids.length === 2 && new Set(ids).size === 2, `the ids ${ids.join(', ')}`),
    mutant: onUpdate('tool_call', 'toolCallId', 'same'),
  }),
  one('A-TC-3', 'a call goes from pending to in_progress to completed', {
    script: [callOf('echo', { text: 'x' })],
    play: echoed,
    check: ({ told }) => {
      const statuses = told.map(({ status }) => status).filter((status) => status !== undefined)
      const after = statuses.slice(statuses.indexOf('in_progress'))
      return unless(
        statuses.includes('in_progress') && after.at(-1) === 'completed',
        `it went ${JSON.stringify(statuses)}`,
      )
    },
    mutant: onUpdate('tool_call_update', 'status', 'completed'),
  }),
  one('A-TC-4', 'an update carries what has changed, with the whole of a list', {
    script: [
      PENDING,
      { toolCall: { toolCallId: 'c', status: 'in_progress' } },
      { toolCall: { toolCallId: 'c', content: [text('one'), text('two')], status: 'completed' } },
    ],
    play: (stage) => turn(stage),
    check: ([call, begun, done]) =>
      first(
        unless(call?.['title'] === 'Counts', 'the call has no title'),
        unless(
          begun !== undefined && !('title' in begun && begun['title'] !== 'Counts'),
          'an update changed the title',
        ),
        unless(listOf(done?.['content']).length === 2, 'the list is not whole'),
      ),
    mutant: onUpdate('tool_call_update', 'content', [text('two')]),
  }),
  ...KINDS.map((kind) =>
    one('A-TC-5', `a call can be of the kind ${kind}`, {
      script: [{ toolCall: { title: 'Does', kind, status: 'completed' } }],
      play: (stage) => turn(stage),
      check: ([call], transcript) =>
        first(unless(call?.['kind'] === kind, `it is ${String(call?.['kind'])}`), law('A-CV-5')(call, transcript)),
      mutant: onUpdate('tool_call', 'kind', 'juggle'),
    }),
  ),
  one('A-TC-5', 'a failed call has the status failed', {
    script: [{ toolCall: { title: 'Does', status: 'failed' } }],
    play: (stage) => turn(stage),
    check: ([call], transcript) =>
      first(unless(call?.['status'] === 'failed', 'it is not'), law('A-CV-5')(call, transcript)),
    mutant: onUpdate('tool_call', 'status', 'cancelled'),
  }),
  one('A-TC-6', 'a diff has an absolute path, and no old text for a new file', {
    script: [
      {
        toolCall: {
          title: 'Edits',
          kind: 'edit',
          status: 'completed',
          content: [{ type: 'diff', path: '/w/a', oldText: null, newText: 'n' }, text('done')],
        },
      },
    ],
    play: (stage) => turn(stage),
    check: ([call], transcript) =>
      first(
        law('A-CV-1')(call, transcript),
        law('A-CV-5')(call, transcript),
        unless(listOf(call?.['content'])[0]?.['type'] === 'diff', 'the diff is missing'),
      ),
    mutant: onUpdate('tool_call', 'content', [{ type: 'diff', path: 'a', newText: 'n' }]),
  }),
  one('A-TC-7', 'locations are absolute, with lines from 1', {
    script: [
      {
        toolCall: {
          title: 'Reads',
          kind: 'read',
          status: 'completed',
          locations: [{ path: '/w/a', line: 3 }, { path: '/w/b' }],
        },
      },
    ],
    play: (stage) => turn(stage),
    check: ([call], transcript) =>
      first(
        law('A-CV-1')(call, transcript),
        law('A-CV-2')(call, transcript),
        unless(listOf(call?.['locations']).length === 2, 'a place is missing'),
      ),
    mutant: onUpdate('tool_call', 'locations', [{ path: '/w/a', line: 0 }]),
  }),
  one('A-TC-8', 'the name of a tool does not change once it was reported', {
    script: [
      callOf('words__echo', { text: 'x' }),
      { toolCall: { toolCallId: 'own', name: 'own', title: 'Own', status: 'pending' } },
      { toolCall: { toolCallId: 'own', status: 'completed' } },
    ],
    play: echoed,
    check: ({ told }) => {
      const names = new Map<unknown, unknown>()
      return told
        .map(({ toolCallId, name }) => {
          const before = names.get(toolCallId) ?? name
          names.set(toolCallId, before)
          return unless(
            name === undefined || name === null || name === before,
            `${String(before)} became ${String(name)}`,
          )
        })
        .find((complaint) => complaint !== undefined)
    },
    mutant: onNthUpdate(2, 'tool_call_update', ['name', 'another']),
  }),
  one('A-TC-9', 'an open call is finished when the turn ends', {
    script: [PENDING],
    play: (stage) => turn(stage),
    check: law('A-TC-9'),
    mutant: withoutUpdate('tool_call_update'),
  }),
  one('A-TC-9', 'a call whose turn is cancelled is finished', {
    script: [PENDING, { sleepMs: 60_000 }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const prompt = stage.begin(sessionId)
      await stage.told('tool_call')
      stage.a.notify('session/cancel', { sessionId })
      await stage.a.answerTo(prompt)
    },
    check: law('A-TC-9'),
    mutant: withoutUpdate('tool_call_update'),
  }),
]

function text(words: string): Fields {
  return { type: 'content', content: { type: 'text', text: words } }
}

const PLAN = [
  { content: 'Look', priority: 'high', status: 'completed' },
  { content: 'Leap', priority: 'low', status: 'in_progress' },
]

export const planCases: readonly Case[] = [
  one('A-PL-1', 'a plan has priorities and statuses', {
    script: [{ plan: PLAN }],
    play: (stage) => stage.turn('plan'),
    check: ([plan]) => unless(JSON.stringify(plan?.['entries']) === JSON.stringify(PLAN), 'it is not what was planned'),
    mutant: onUpdate('plan', 'entries.0.priority', 'urgent'),
  }),
  one('A-PL-2', 'every update has the whole plan', {
    script: [{ plan: PLAN }, { plan: [...PLAN, 'Land'] }],
    play: async (stage) => {
      const plans = await stage.turn('plan')
      return plans.map(({ entries }) => listOf(entries).map(({ content }) => content))
    },
    check: (plans) =>
      unless(fieldsOf(plans.at(-1))['length'] === 3 && plans.at(-1)?.[0] === 'Look', 'a part is missing'),
    mutant: onUpdate('plan', 'entries', [{ content: 'Land', priority: 'medium', status: 'pending' }]),
  }),
]
