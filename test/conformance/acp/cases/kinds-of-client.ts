/** Clients that can this and not that: every pair of abilities, in a turn that wants all of them. */
import { join } from 'node:path'
import type { Fields } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { listOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { terminalAnswers } from './new.ts'

const ABILITIES = ['read', 'write', 'terminal', 'form', 'url', 'boolean', 'notices', 'compaction'] as const
type Ability = (typeof ABILITIES)[number]

/** Rows of a Hadamard matrix: each pair of abilities in all four ways. */
const ROWS = [
  '11111111',
  '10101010',
  '11001100',
  '10011001',
  '11110000',
  '10100101',
  '11000011',
  '10010110',
  '00000000',
  '01010101',
  '00110011',
  '01100110',
]

const clientOf = (can: ReadonlySet<Ability>): Fields => ({
  fs: { readTextFile: can.has('read'), writeTextFile: can.has('write') },
  terminal: can.has('terminal'),
  elicitation: { ...(can.has('form') && { form: {} }), ...(can.has('url') && { url: {} }) },
  session: {
    ...(can.has('boolean') && { configOptions: { boolean: {} } }),
    ...(can.has('notices') && { notices: {} }),
    ...(can.has('compaction') && { compaction: {} }),
  },
})

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } } }

const wanting = (stage: Stage): readonly Fields[] => [
  { agent: { configOptions: [{ id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }] } },
  { readFile: { path: join(stage.cwd, 'a.txt') } },
  { writeFile: { path: join(stage.cwd, 'b.txt'), content: 'x' } },
  { terminal: { command: 'true' } },
  { elicit: { message: 'Who?', schema: SCHEMA } },
  { elicit: { message: 'Go', url: 'https://example.com/' } },
  { notice: { severity: 'info', title: 'By the way.' } },
  { compaction: { compactionId: 'c', status: 'in_progress' } },
  { compaction: { compactionId: 'c', status: 'completed' } },
  { chunk: '.' },
]

const ANSWERS = {
  ...terminalAnswers,
  'fs/read_text_file': () => ({ content: 'x' }),
  'fs/write_text_file': () => ({}),
  'elicitation/create': () => ({ action: 'decline' }),
}

/** What the client saw of each ability. */
function usedOf(stage: Stage, configOptions: unknown): readonly Ability[] {
  const asked = (method: string, mode?: string): boolean =>
    stage.a.received.some((one) => one.method === method && (mode === undefined || one.params?.['mode'] === mode))
  const told = (kind: string): boolean => updatesOf(stage.transcript, kind).length > 0
  const used: Readonly<Record<Ability, boolean>> = {
    read: asked('fs/read_text_file'),
    write: asked('fs/write_text_file'),
    terminal: asked('terminal/create'),
    form: asked('elicitation/create', 'form'),
    url: asked('elicitation/create', 'url'),
    boolean: listOf(configOptions).length > 0,
    notices: told('notice'),
    compaction: told('compaction_update'),
  }
  return ABILITIES.filter((ability) => used[ability])
}

/** What a client is asked that cannot read. */
const UNASKED = { id: 'u', method: 'fs/read_text_file', params: { sessionId: '$session', path: '/x' } }

export const kindsOfClient: readonly Case[] = ROWS.map((row) => {
  const can = new Set(ABILITIES.filter((_ability, at) => row[at] === '1'))
  const reads = can.has('read')
  return one('A-IN-6', `a client with ${[...can].join(', ') || 'nothing'} is asked and sent just that`, {
    client: clientOf(can),
    script: [],
    play: async (stage) => {
      stage.answers(ANSWERS)
      stage.script(wanting(stage))
      const made = await stage.a.request('session/new', { cwd: stage.cwd, mcpServers: [] })
      const { sessionId, configOptions } = stage.mustWork(made, 'session/new')
      await stage.prompt(String(sessionId))
      return usedOf(stage, configOptions)
    },
    check: (used, transcript) =>
      first(unless(used.join() === [...can].join(), `it was ${used.join(', ')}`), law('A-IN-5')(used, transcript)),
    mutant: reads
      ? { on: { call: 'fs/read_text_file' }, each: true, set: 'method', to: '_x/read' }
      : { on: { result: 'session/prompt' }, before: UNASKED },
  })
})
