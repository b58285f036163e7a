/** `parley agents test NAME --prompts`: what an agent does with prompts, beside what its row says. */
import { expect, test } from 'vitest'
import { type Finding, tryTurns } from '../../src/adapters/agent/external/probe/try-turns.ts'
import { type Quirks, SAFE } from '../../src/adapters/agent/external/quirks.ts'
import { systemClock } from '../../src/adapters/clock.ts'
import { openProcesses } from '../../src/adapters/process/open-processes.ts'
import { freshDirectory } from '../e2e/parley.ts'
import type { Case, Move } from '../fake-agent/case.ts'
import { FakeAgent } from '../fake-agent/fake-agent.ts'
import { pacedClock } from './stage.ts'

const CAN = { loadSession: true, sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} } }

/** The short prompt is answered so; the other one, until it is cancelled. */
const answers = (...moves: readonly Move[]): NonNullable<Case['prompts']> => ({
  '*': [{ if: 'Count', moves: [{ chunk: '1' }, { untilCancel: true }], else: moves }],
})

async function tried(plan: Case, own: Partial<Quirks> = {}, clock = systemClock) {
  const fake = new FakeAgent(freshDirectory(), plan)
  const boot = { home: 'trial', id: systemClock.id() }
  const processes = openProcesses({ boot, environment: process.env, clock })
  const quirks = { ...SAFE, ...own }
  const launch = { name: 'fake', program: fake.command, args: fake.args, env: {}, quirks, idleMinutes: 1 }
  const { signal } = systemClock.abortSource()
  const parts = { processes, clock, clientInfo: { name: 'parley', version: '0' }, signal }
  try {
    return { fake, findings: await tryTurns({ ...launch, mcp: 'front' }, quirks, parts) }
  } finally {
    await processes.close()
  }
}

const linesOf = (findings: readonly Finding[]) =>
  findings.map(
    ({ what, found, fits }) => `${fits ? 'fits' : 'differs'} ${what} ${found.replaceAll(/\d+ ms/gu, 'N ms')}`,
  )

test.concurrent('an agent that does as its row says fits in all that is tried, and nothing of it stays', async () => {
  const plan = { capabilities: CAN, prompts: answers({ chunk: 'parley', messageId: 'm1' }) }
  const { fake, findings } = await tried(plan, { stableIds: true, stopWith: 'kill' })
  expect(linesOf(findings)).toEqual([
    'fits session/prompt end_turn after N ms',
    'fits lateMs N ms',
    'fits session/list has the session',
    expect.stringMatching(/^fits notFound /u),
    expect.stringMatching(/^fits stopWith (?:eof|term)$/u),
    'fits session/resume is silent',
    'fits session/load replays the turn',
    'fits stableIds true',
    'fits replayAfterResponseMs N ms',
    'fits session/cancel cancelled after N ms',
  ])
  expect(fake.processes).toEqual([])
  expect(fake.sessions).toEqual([])
})

test.concurrent('an agent that does otherwise is found out', async () => {
  const { fake, findings } = await tried(
    {
      capabilities: { loadSession: true },
      prompts: answers({ chunk: 'parley' }, { answer: { stopReason: 'end_turn' } }, { wait: 200 }, { chunk: 'late' }),
      replay: { when: 'after', everyMs: 100 },
      on: { 'session/cancel': [] },
    },
    { stableIds: true, cancelKillMs: 300, replayAfterResponseMs: 0 },
  )
  const found = new Map(findings.map(({ what, found: words, row, fits }) => [what, [words, row, fits]]))
  expect(found.get('lateMs')).toEqual([expect.stringMatching(/^[1-9]\d+ ms$/u), '0', false])
  expect(found.get('stableIds')).toEqual(['false', 'true', false])
  expect(found.get('replayAfterResponseMs')).toEqual([expect.stringMatching(/^[1-9]\d+ ms$/u), '0', false])
  expect(found.get('cancelKillMs')).toEqual(['no answer in 300 ms', '300', false])
  expect(fake.processes).toEqual([])
})

test.concurrent('an agent that ends by being killed only is found out, and is gone', async () => {
  const plan: Case = { prompts: answers({ chunk: 'parley' }), ignores: ['eof', 'SIGTERM'] }
  const { fake, findings } = await tried(plan, {}, pacedClock(3))
  expect(linesOf(findings)).toContain('differs stopWith kill')
  expect(fake.processes).toEqual([])
})

test.concurrent.each<[string, Case, string]>([
  ['refuses', { prompts: answers({ fail: { code: -32603, message: 'no model' } }) }, 'differs session/prompt no model'],
  ['says nothing', { prompts: answers({ wait: 0 }) }, 'differs emptyEndIsError it ended without a word'],
  [
    'dies',
    { prompts: { '*': [{ if: 'Count', moves: [{ die: 3 }], else: [{ chunk: 'parley' }] }] } },
    'differs its process',
  ],
])('an agent that %s is a finding, and no failure of the test', async (_what, plan, words) => {
  const { findings } = await tried(plan)
  expect(linesOf(findings).at(-1) === undefined ? '' : linesOf(findings).join('\n')).toContain(words)
  expect(findings.at(-1)).toBeDefined()
})

const refusal = { fail: { code: -32603, message: 'rate limit' } } as const

test.concurrent.each<[string, Case, readonly string[]]>([
  ['refuses the prompt', { prompts: answers(refusal) }, ['differs session/prompt rate limit (code -32603)']],
  [
    'reopens nothing',
    { prompts: answers({ chunk: 'parley' }), on: { 'session/resume': [refusal], 'session/load': [refusal] } },
    [
      'differs session/resume rate limit (code -32603)',
      'differs session/load rate limit (code -32603)',
      'fits session/cancel cancelled after N ms',
    ],
  ],
  ['dies', { prompts: { '*': [{ if: 'Count', moves: [{ die: 3 }], else: [{ chunk: 'parley' }] }] } }, []],
])('an agent that %s keeps no session of the test', async (_what, plan, lines) => {
  const { fake, findings } = await tried({ capabilities: CAN, ...plan })
  expect(linesOf(findings)).toEqual(expect.arrayContaining([...lines]))
  expect(fake.sessions).toEqual([])
  expect(fake.processes).toEqual([])
})

test.concurrent('an agent that refuses a new session, the first or the next, is a finding beside those before it', async () => {
  const at = (moves: readonly Move[], later: readonly Move[]): Case => ({
    prompts: answers({ chunk: 'parley' }),
    on: { 'session/new': [{ first: 1, name: 'new', moves, later }] },
  })
  expect(linesOf((await tried(at([refusal], []))).findings)).toEqual(['differs session/new rate limit (code -32603)'])
  const { findings } = await tried(at([], [refusal]))
  expect(linesOf(findings)).toEqual(expect.arrayContaining(['fits session/prompt end_turn after N ms']))
  expect(linesOf(findings).at(-1)).toBe('differs session/new rate limit (code -32603)')
})
